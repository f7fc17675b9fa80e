// Package llm does jobs of the kind llm (CIP-2): it asks a language model over an
// endpoint that speaks OpenAI's chat completions, or the offline one.
//
// A job names a model, and the runner's owner which endpoint that is; a job cannot
// name an endpoint. Its result is the text of the answer.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/cassette"
	"github.com/cowboyinc/devnet/internal/environment/executor/outbound"
)

const (
	// maxTokenBytes is the longest a token gets where an endpoint does not say how many
	// it used: none of the usual vocabularies has longer ones in a text of any length.
	maxTokenBytes = 32
	// maxAnswer bounds an endpoint's answer, in bytes: a result, escaped, and around it.
	maxAnswer = outbound.MaxBody
)

// Model is where the jobs that name a model go.
type Model struct {
	Endpoint    string // such as https://example.org/v1, to which /chat/completions is added; "" for the offline model
	Key         string // sent as a bearer token; "" for none
	Name        string // at the endpoint
	TokensField string // of the request: max_tokens if it is "", none if it is NoField
	Cool        bool   // the request has no temperature: the model takes none
}

// NoField is the TokensField of a model whose endpoint takes no limit of tokens.
const NoField = "none"

// Config is the models of a runner.
type Config struct {
	Models   map[string]Model // by the name that jobs give
	Default  string           // the one of Models for every other name; "": other names are refused
	Cassette *cassette.Cassette
}

// Kind does llm jobs.
type Kind struct {
	config Config
	client *http.Client
}

var _ executor.Kind = (*Kind)(nil)

// New makes the kind. An invalid URL of a model's endpoint is refused.
func New(config Config) (*Kind, error) {
	for name, m := range config.Models {
		u, err := url.Parse(m.Endpoint)
		if m.Endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			return nil, fmt.Errorf("invalid URL %.80q of the endpoint of model %.80q", m.Endpoint, name)
		}
	}
	if _, there := config.Models[config.Default]; config.Default != "" && !there {
		return nil, fmt.Errorf("the default %.80q is none of the models", config.Default)
	}
	return &Kind{config, outbound.Client()}, nil
}

// Capabilities implements executor.Kind: the models, as a draw compares them with a
// job's; none where one stands for every other name (CIP-11 §9.1).
func (k *Kind) Capabilities() (all []string) {
	if k.config.Default != "" {
		return nil
	}
	for name := range k.config.Models {
		all = append(all, "model:"+name)
	}
	slices.Sort(all)
	return all
}

// findModel is the one for a name.
func (k *Kind) findModel(name string) (m Model, offered bool) {
	if m, offered = k.config.Models[name]; !offered {
		m, offered = k.config.Models[k.config.Default]
	}
	return m, offered
}

// Accepts implements executor.Kind.
func (k *Kind) Accepts(spec *push.JobSpec) *execution.Refusal {
	job := spec.JobType.Llm
	if _, offered := k.findModel(job.Model); !offered {
		return execution.Refuse(push.Unsupported, "this runner has no model %.80q", job.Model)
	}
	if wrong := spec.Acceptable(); wrong != nil {
		return execution.Refuse(push.BadSpec, "%v", wrong)
	}
	return nil
}

// maxTokens is how many an answer may have.
func maxTokens(spec *push.JobSpec) uint64 {
	const most = executor.MaxResultBytes // a token has a byte or more
	return min(spec.JobType.Llm.MaxTokens, spec.Bounds.MaxOutputTokens, most)
}

// Do implements executor.Kind.
func (k *Kind) Do(ctx context.Context, job *executor.Job) ([]byte, error) {
	spec, asked := job.Spec, job.Spec.JobType.Llm
	m, _ := k.findModel(asked.Model)
	if m.Endpoint == "" {
		return offlineAnswer(asked, spec.ResultSchema.DataFormat, maxTokens(spec))
	}
	to := strings.TrimSuffix(m.Endpoint, "/") + "/chat/completions"
	request := cassette.Request{Method: http.MethodPost, URL: to, Body: requestBody(m, spec)}
	answer, err := k.config.Cassette.Do(request, func() (cassette.Response, error) {
		headers := map[string]string{}
		if m.Key != "" {
			headers["Authorization"] = "Bearer " + m.Key
		}
		status, body, err := outbound.PostJSON(ctx, k.client, request.URL, request.Body, headers, executor.AnswerBytes(spec, maxAnswer))
		return cassette.Response{Status: status, Body: body}, err
	})
	if err != nil {
		return nil, err
	}
	if answer.Status != http.StatusOK {
		return nil, outbound.Refused("the model's endpoint", answer.Status, answer.Body, true)
	}
	return textOf(answer.Body, maxTokens(spec))
}

// requestBody is the request's body, deterministic.
func requestBody(m Model, spec *push.JobSpec) []byte {
	job := spec.JobType.Llm
	messages := []map[string]string{}
	if job.SystemPrompt != nil {
		messages = append(messages, map[string]string{"role": "system", "content": *job.SystemPrompt})
	}
	messages = append(messages, map[string]string{"role": "user", "content": job.Prompt})
	field := m.TokensField
	if field == "" {
		field = "max_tokens"
	}
	body := map[string]any{"model": m.Name, "messages": messages}
	if field != NoField {
		body[field] = maxTokens(spec)
	}
	if !m.Cool {
		body["temperature"] = json.Number(fmt.Sprintf("%d.%03d", job.Temperature/1000, job.Temperature%1000))
	}
	return mustMarshal(body)
}
