package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// routes lists all served paths, and no others: a path without a handler would be a
// promise.
var routes = []string{
	"GET /account/{address}", "GET /actor/{address}", "GET /actor/{address}/logs", "GET /actor/{address}/receipts",
	"GET /actor/{address}/schema",
	"GET /actor/{address}/state", "GET /actors",
	"GET /basefee", "GET /block/{id}", "GET /block/{id}/receipts", "GET /blocks", "GET /blocks/columns", "GET /links",
	"GET /nodes/{name}/log", "GET /presence", "GET /timers/calendar", "GET /views", "GET /devnet/accounts",
	"GET /devnet/faults", "GET /devnet/scenario", "GET /events",
	"GET /find", "GET /health", "GET /height", "GET /hold", "POST /hold/back", "GET /hold/frames", "POST /hold/go",
	"POST /hold/step",
	"GET /job/{id}", "GET /job/{id}/draws", "GET /job/{id}/results", "GET /job/{id}/runners", "GET /job/{id}/status",
	"GET /job/{id}/story", "GET /job/{id}/verified",
	"GET /jobs", "GET /presence/{height}", "GET /runner/{address}", "GET /runner/{address}/jobs", "GET /runners", "GET /runners/active",
	"GET /subsets", "POST /runner/{address}/heartbeat", "POST /runner/{address}/job_refusal", "POST /runner/{address}/job_result",
	"GET /metrics", "GET /openapi.json", "GET /params", "GET /ready", "GET /timer/{id}", "GET /timer/{id}/story", "GET /timers",
	"GET /timers/lane", "GET /transaction/{hash}",
	"GET /transaction/{hash}/receipt", "GET /transaction/{hash}/trace", "GET /validators",
	"POST /actor/bid", "POST /actor/read", "POST /devnet/advance", "POST /devnet/deploy",
	"POST /devnet/fault", "POST /devnet/heal",
	"POST /devnet/job/submit", "POST /devnet/job/cancel", "POST /devnet/job/answer", "POST /devnet/job/progress",
	"POST /devnet/runner/join", "POST /devnet/runner/leave", "POST /devnet/runner/pause", "POST /devnet/runner/reload",
	"POST /devnet/runner/resume", "POST /devnet/runner/stake", "POST /devnet/runner/update",
	"POST /devnet/automine", "POST /devnet/balance", "POST /devnet/mine", "POST /devnet/state",
	"POST /devnet/params", "POST /devnet/pause", "POST /devnet/resume", "POST /devnet/send", "POST /devnet/timer/cancel",
	"POST /devnet/timer/extend", "POST /devnet/upgrade", "POST /devnet/upgrade/apply",
	"POST /devnet/upgrade/terms", "POST /devnet/validator/join", "POST /devnet/validator/leave",
	"POST /faucet", "POST /submit", "POST /submit_wait",
}

func operations(api *huma.OpenAPI) map[string]*huma.Operation {
	all := map[string]*huma.Operation{}
	for path, item := range api.Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "DELETE": item.Delete,
			"PATCH": item.Patch} {
			if op != nil {
				all[method+" "+path] = op
			}
		}
	}
	return all
}

func TestTheDocumentListsEveryRouteAndNoOther(t *testing.T) {
	w := newWorld(t)
	var got []string
	for route := range operations(w.server.OpenAPI()) {
		got = append(got, route)
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(routes))
	if !slices.Equal(got, want) {
		t.Fatalf("documented:\n%s\nwanted:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, route := range routes {
		method, path, _ := strings.Cut(route, " ")
		r, _ := http.NewRequest(method, "http://localhost"+strings.NewReplacer("{", "", "}", "").Replace(path), nil)
		if _, pattern := w.server.mux.Handler(r); pattern != route {
			t.Errorf("%s is documented and served by %q", route, pattern)
		}
	}
}

// TestEveryOperationIsWholeAndItsExamplesHold checks each example against its
// schema.
func TestEveryOperationIsWholeAndItsExamplesHold(t *testing.T) {
	w := newWorld(t)
	api := w.server.OpenAPI()
	ids := map[string]string{}
	check := func(route, what string, media *huma.MediaType) {
		t.Helper()
		if media == nil || media.Schema == nil || media.Example == nil {
			t.Errorf("%s: %s has no schema or no example", route, what)
			return
		}
		result := &huma.ValidateResult{}
		value := media.Example.(example).plainValue()
		huma.Validate(api.Components.Schemas, media.Schema, huma.NewPathBuffer([]byte{}, 0), huma.ModeReadFromServer, value, result)
		for _, err := range result.Errors {
			t.Errorf("%s: the example of %s: %v", route, what, err)
		}
	}
	for route, op := range operations(api) {
		if other := ids[op.OperationID]; op.OperationID == "" || other != "" {
			t.Errorf("%s has the operation id %q, as has %q", route, op.OperationID, other)
		}
		ids[op.OperationID] = route
		if op.Summary == "" || len(op.Tags) != 1 {
			t.Errorf("%s has no summary or not one tag", route)
		}
		if op.Responses["200"] == nil || op.Responses["403"] == nil || op.Responses["422"] == nil || op.Responses["500"] == nil {
			t.Errorf("%s does not document 200, 403, 422 and 500", route)
		}
		for status, response := range op.Responses {
			for kind, media := range response.Content {
				check(route, status+" "+kind, media)
			}
		}
		if op.RequestBody != nil {
			check(route, "the body", op.RequestBody.Content["application/json"])
		}
		for _, p := range op.Parameters {
			if p.In == "path" && !strings.Contains(route, "{"+p.Name+"}") {
				t.Errorf("%s documents the path parameter %s, which it has not", route, p.Name)
			}
		}
	}
}

var reference = regexp.MustCompile(`"\$ref": ?"([^"]+)"`)

func TestTheDocumentIsOpenAPI31WithoutLooseEnds(t *testing.T) {
	w := newWorld(t)
	status, data := w.call("GET", "/openapi.json", nil)
	var doc struct {
		OpenAPI    string `json:"openapi"`
		Info       struct{ Title, Version string }
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
		Paths map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(data, &doc); err != nil || status != 200 {
		t.Fatal(status, err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Title == "" || doc.Info.Version != "test" {
		t.Fatalf("%+v", doc.Info)
	}
	for _, match := range reference.FindAllStringSubmatch(string(data), -1) {
		name, found := strings.CutPrefix(match[1], "#/components/schemas/")
		if !found || doc.Components.Schemas[name] == nil {
			t.Errorf("the reference %s leads nowhere", match[1])
		}
	}
	for name := range doc.Components.Schemas {
		if !strings.Contains(string(data), `"#/components/schemas/`+name+`"`) {
			t.Errorf("nothing refers to the schema %s", name)
		}
	}
}

// Generators of clients name a type after each schema, each enumeration within one, and
// the parameters, body and answer of each operation. Two of one name end a generator.
func TestTheTypesOfAGeneratedClientHaveDifferentNames(t *testing.T) {
	api := newWorld(t).server.OpenAPI()
	made := map[string]string{}
	name := func(what string, words ...string) {
		t.Helper()
		key := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.Join(words, "")))
		if other, taken := made[key]; taken {
			t.Errorf("%s and %s are both generated as %s", other, what, strings.Join(words, ""))
		}
		made[key] = what
	}
	for schema, is := range api.Components.Schemas.Map() {
		name("the schema "+schema, schema)
		eachInline(is, func(path []string) {
			name("the field "+schema+"."+strings.Join(path, "."), append([]string{schema}, path...)...)
		})
	}
	for route, op := range operations(api) {
		name("the parameters of "+route, op.OperationID, "Params")
		name("the answer of "+route, op.OperationID, "Response")
		name("the body of "+route, op.OperationID, "JSONRequestBody")
		for _, p := range op.Parameters {
			if p.In == "query" {
				name("the parameter "+p.Name+" of "+route, op.OperationID, "Params", p.Name)
			}
		}
	}
}

// eachInline reports each type that a schema describes in place: an enumeration, or an
// object within it.
func eachInline(s *huma.Schema, tell func(path []string)) {
	for field, is := range s.Properties {
		if len(is.Enum) > 0 || len(is.Properties) > 0 {
			tell([]string{field})
		}
		eachInline(is, func(path []string) { tell(append([]string{field}, path...)) })
	}
	if s.Items != nil {
		if len(s.Items.Enum) > 0 || len(s.Items.Properties) > 0 {
			tell([]string{"Item"})
		}
		eachInline(s.Items, func(path []string) { tell(append([]string{"Item"}, path...)) })
	}
}

// The examples of a timer tell one life: its figures agree, and are such as a
// chain could have.
func TestTheExampleOfATimerAgreesWithItself(t *testing.T) {
	timer, fire, story := exampleTimer, exampleFire, exampleStory
	last := story.Story[len(story.Story)-1]
	paid := last.Paid
	sum := paid.Burned.Cycle.Add(paid.Burned.LaneTimer).Add(paid.Burned.Cell).Add(paid.Tip).Add(paid.Payment)
	perCycle := paid.PerCycle.Add(paid.PerCycleLane).Add(*last.Priority)
	held := perCycle.Mul(uint64(paid.CyclesLimit)).Add(paid.PerCell.Mul(uint64(paid.CellsLimit)))
	for what, same := range map[string]bool{
		"heights":   timer.ScheduledAt < timer.Height && timer.Height <= *timer.EndedAt && *timer.EndedAt < timer.ExpiresAt,
		"end":       *timer.EndedAt == fire.Height && fire.Height == last.From && story.Height >= last.To,
		"deferrals": timer.Deferrals == story.Story[1].Blocks && story.Story[1].To+1 == last.From && story.Story[1].From == timer.Height,
		"limit":     *timer.GasLimit == paid.CyclesLimit && timer.CyclesUsed == paid.CyclesUsed && fire.CyclesUsed == paid.CyclesUsed,
		"fee":       timer.FeePaid == sum && fire.Fee == sum && paid.FeePaid == sum && perCycle.Mul(uint64(paid.CyclesUsed)) == sum,
		"tip":       timer.TipPaid == paid.Tip && fire.Tip == paid.Tip && timer.Priority == *last.Priority,
		"refund":    paid.MaxCost == held && paid.Refund.Add(sum) == held,
	} {
		if !same {
			t.Errorf("the example disagrees about its %s", what)
		}
	}
}

// Every status has a separate example.
func TestEveryErrorHasItsOwnExample(t *testing.T) {
	seen := map[string]string{}
	for route, op := range operations(newWorld(t).server.OpenAPI()) {
		for status := range op.Responses {
			if body := exampleErrors[status]; status[0] >= '4' && (body.Code == "" || body.Message == "") {
				t.Errorf("%s: the status %s has no example", route, status)
			}
		}
	}
	for status, body := range exampleErrors {
		if other := seen[body.Code]; other != "" {
			t.Errorf("%s and %s have the same example", status, other)
		}
		seen[body.Code] = status
	}
}

// The document explains each parameter without other pages.
func TestEveryParameterIsDescribed(t *testing.T) {
	for route, op := range operations(newWorld(t).server.OpenAPI()) {
		for _, p := range op.Parameters {
			if p.Description == "" {
				t.Errorf("%s: the parameter %s is not described", route, p.Name)
			}
		}
	}
}
