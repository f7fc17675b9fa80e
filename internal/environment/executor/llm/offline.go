package llm

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Offline is the name of the model that needs no network.
const Offline = "offline"

// offlineWords are in every answer of the offline model, which a limit of tokens may cut.
const offlineWords = "This is devnet's offline model: no language model, but a text that follows from the prompt."

// leastWords tell a cut answer of the offline model from another text, in bytes.
const leastWords = len("This is devnet's offline model")

// IsOffline reports whether a result is an answer of the offline model.
func IsOffline(result []byte) bool {
	return bytes.Contains(result, []byte(offlineWords)) ||
		len(result) >= leastWords && bytes.HasPrefix([]byte(offlineWords), result)
}

// offlineAnswer is not a language model. Its answer states that, with the size and digest
// of the question: the same question has the same answer on every runner, at any
// temperature, and another question another.
func offlineAnswer(job *push.Llm, format push.DataFormat, tokens uint64) ([]byte, error) {
	system := ""
	if job.SystemPrompt != nil {
		system = *job.SystemPrompt
	}
	asked := fmt.Appendf(nil, "%d:%s%d:%s%d:%s%d", len(job.Model), job.Model, len(system), system, len(job.Prompt),
		job.Prompt, job.Temperature)
	digest := types.Keccak(asked)
	room := tokens * 4 // decision J19: a token is four bytes
	if format == push.FormatJSON {
		text := mustMarshal(map[string]any{"digest": digest, "model": Offline, "note": offlineWords, "prompt_bytes": len(job.Prompt)})
		if uint64(len(text)) > room {
			return nil, execution.Refuse(push.Unsupported, "the offline model's JSON has %d bytes, and there is room for %d in %s",
				len(text), room, plural.Of(tokens, "token"))
		}
		return text, nil
	}
	text := fmt.Sprintf("%s The prompt has %s; with its settings its digest is %s.", offlineWords, plural.Of(len(job.Prompt), "byte"), digest)
	if uint64(len(text)) > room {
		text = text[:room] // ASCII throughout
	}
	return []byte(text), nil
}

// mustMarshal returns the JSON of a value that always has one.
func mustMarshal(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("llm: " + err.Error())
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
