package llm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/outbound"
)

// answer is what is read of an endpoint's answer.
type answer struct {
	Choices []struct {
		FinishReason *string `json:"finish_reason"`
		Message      struct {
			Content content  `json:"content"`
			Refusal *string  `json:"refusal"`
			Tools   []anyone `json:"tool_calls"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		CompletionTokens *uint64 `json:"completion_tokens"`
	} `json:"usage"`
}

// anyone is a value of any form, of which only the presence counts.
type anyone struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*anyone) UnmarshalJSON([]byte) error { return nil }

// content is the text of a message: a text, or a list of parts, whose texts are joined. Parts
// of other types, such as thoughts, are no text of the answer. null is none.
type content string

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] != '[' {
		return json.Unmarshal(data, (*string)(c))
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var joined strings.Builder
	for _, part := range parts {
		if part.Type == "text" || part.Type == "output_text" {
			joined.WriteString(part.Text)
		}
	}
	*c = content(joined.String())
	return nil
}

// complete are the words of finish_reason for a text that the model ended itself: of the
// format, and of servers that pass on their engine's word. "" is for servers that say none.
var complete = []string{"", "stop", "end_turn", "stop_sequence", "eos", "eos_token"}

// textOf reads an answer, which comes from a stranger: one choice with a text that the model
// ended itself, and with no more tokens than allowed. A text that the job's own prompt or
// tokens make no result is a *execution.Refusal.
func textOf(body []byte, most uint64) ([]byte, error) {
	body = outbound.WithoutMark(body)
	if _, err := executor.ParseJSON(body); err != nil {
		return nil, fmt.Errorf("the model's endpoint answered no JSON: %w", err)
	}
	var said answer
	if err := json.Unmarshal(body, &said); err != nil || len(said.Choices) == 0 {
		return nil, fmt.Errorf("%s", outbound.Say("the model's endpoint answered without a text in choices", errorOnly(body)))
	}
	choice, text := said.Choices[0], string(said.Choices[0].Message.Content)
	why := ""
	if choice.FinishReason != nil {
		why = *choice.FinishReason
	}
	if refusal := refuseCutText(why, text, most); refusal != nil {
		return nil, refusal
	}
	if declined := choice.Message.Refusal; text == "" && declined != nil && *declined != "" {
		return nil, execution.Refuse(push.Unsupported, "the model declines: %s", outbound.Words([]byte(*declined)))
	}
	if text == "" && len(choice.Message.Tools) > 0 {
		return nil, execution.Refuse(push.Unsupported, "the model calls a tool in place of a text")
	}
	if text == "" {
		return nil, execution.Refuse(push.Unsupported, "the model's text is empty")
	}
	if used := said.Usage.CompletionTokens; used != nil && *used > most {
		return nil, execution.Refuse(push.Unsupported, "the model took %s, at most %d", plural.Of(*used, "token"), most)
	}
	if uint64(len(text)) > most*maxTokenBytes {
		return nil, execution.Refuse(push.Unsupported, "the model's text has %d bytes, which are more than %s",
			len(text), plural.Of(most, "token"))
	}
	return []byte(text), nil
}

// errorOnly returns the body where it tells an error, so that it is not shown as words otherwise.
func errorOnly(body []byte) []byte {
	var said struct{ Error json.RawMessage }
	if json.Unmarshal(body, &said) != nil || len(said.Error) == 0 {
		return nil
	}
	return body
}

// refuseCutText refuses an answer whose finish_reason says that the model did not end its text;
// nil of one that it ended.
func refuseCutText(why, text string, most uint64) error {
	cut := plural.Of(most, "token")
	for _, word := range complete {
		if why == word {
			return nil
		}
	}
	switch {
	case (why == "length" || why == "max_tokens") && text == "":
		return execution.Refuse(push.Unsupported, "the model used its %s before it wrote a text: ask for more, or another model", cut)
	case why == "length" || why == "max_tokens":
		return execution.Refuse(push.Unsupported, "the model used its %s before it ended its text: ask for more", cut)
	case why == "content_filter":
		return execution.Refuse(push.Unsupported, "a filter of the model's endpoint cut or withheld the text (content_filter)")
	case why == "tool_calls" || why == "function_call":
		return execution.Refuse(push.Unsupported, "the model calls a tool in place of a text")
	}
	return fmt.Errorf("the model did not end its text: finish_reason is %.40q", why)
}
