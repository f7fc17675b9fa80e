package api

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Runners that poll (CIP-11 §14, decision J11): in sunset 410 answers their polls for
// jobs, and their results and heartbeats are taken.
func (s *Server) registerPolling() {
	const gone = "410 in the phase sunset of cip11.push. A page has at most 1 MiB of specs; it has the header Next-After if more follow. " +
		"A caller that asks for more than 4 MiB a second waits, and above two seconds is refused (429). A signed poll has a ration of its runner."
	serveWhole(s, operation{id: "runner_jobs", path: "/runner/{address}/jobs", tag: tagRunners,
		client:  "PolledJobs(runner string) lists what a runner has to do that polls (decision J11): the first page.",
		summary: "List the work of a runner that polls: jobs drawn for it whose result is not final, by deadline", description: gone,
		errors: []int{400, 404, 409, 410, 429}, response: []model.PolledJob{{JobID: exampleJobID, JobSpec: types.Bytes{0xab}, BlockHeight: 12,
			DeadlineBlock: 42}}}, s.polledJobs)
	serveRead(s, operation{id: "runner_heartbeat", method: http.MethodPost, path: "/runner/{address}/heartbeat", tag: tagRunners,
		summary:     "Bring a runner's heartbeat, a HeartbeatPing as it signs it on the wire; answers once a validator sent it to the chain",
		description: "One in cip11.heartbeat_tx_blocks blocks is taken.", errors: []int{400, 429},
		request: model.HeartbeatRequest{BlockHeight: 112, Nonce: 1}, response: model.Reported{Hash: &exampleHash}}, s.polledHeartbeat)
	serveRead(s, operation{id: "runner_job_result", method: http.MethodPost, path: "/runner/{address}/job_result", tag: tagRunners,
		summary: "Deliver a runner's signed JobResult; answers once a validator has accepted it",
		description: "The validator commits to it, and reveals it when its time has come (decision J15): see GET /job/{id}/results. Where " +
			"it does not land, hand it to another, by node.",
		errors: []int{400, 429}, request: model.ResultRequest{JobID: exampleJobID, ResultData: types.Bytes("hello")},
		response: model.Reported{}}, s.polledResult)
	serveRead(s, operation{id: "runner_job_refusal", method: http.MethodPost, path: "/runner/{address}/job_refusal", tag: tagRunners,
		summary: "Bring a runner's refusal of a job, a JobAck with Reject as it signs it on the wire; answers once a validator took it",
		description: "It counts until the commit deadline and before a commitment, like the refusal of a pushed job (decision J21). The " +
			"runner keeps its reputation, and the chain draws another. GET /job/{id}/story shows it.",
		errors: []int{400, 429}, request: model.RefusalRequest{JobID: exampleJobID, Reject: string(push.Unsupported),
			Reason: new("no such executor")}, response: model.Reported{}}, s.polledRefusal)
}

// pollingRunner finds the runner that asks or brings something. Answers to a job are taken from a
// deregistered runner too, while the job is open.
func (s *Server) pollingRunner(v answers.Reader, in *OfRunner) (model.Runner, error) {
	r, err := s.findRunner(v, in.Address, "address")
	if err == nil && r.Health == model.RunnerDeregistered {
		err = Refuse(http.StatusConflict, "deregistered", "runner %s was deregistered permanently", r.Address).At("address")
	}
	return r, err
}

type pollInput struct {
	OnNode
	OfRunner
	After string `query:"after" maxLength:"128" doc:"Next-After of the page before; absent for the first page." example:"42-0x0101010101010101010101010101010101010101010101010101010101010101"`
	At    uint64 `query:"at" doc:"Milliseconds of Unix time of a signed poll. They are above those of the runner's poll before, and at most two minutes from the server's clock." example:"1700000000000"`
	Text  string `query:"signed" maxLength:"132" doc:"The runner's signature over keccak256(cowboy/JobPoll/1 ‖ chain id, 8 bytes ‖ at, 8 bytes), big-endian. Signed polls have a ration of the runner's alone; others share that of their address." example:""`
	from  netip.Prefix
}

// Resolve implements huma.Resolver.
func (in *pollInput) Resolve(ctx huma.Context) []error {
	if at, err := netip.ParseAddrPort(ctx.RemoteAddr()); err == nil {
		in.from = originOf(net.TCPAddrFromAddrPort(at))
	}
	return nil
}

// polledPage is a page of jobs, as it is answered.
type polledPage struct {
	Next string `header:"Next-After" doc:"The value of after for the next page; absent if there is none."`
	Body []model.PolledJob
}

func (s *Server) polledJobs(ctx context.Context, in *pollInput) (*polledPage, error) {
	v, err := s.readerOf(in.OnNode)
	if err != nil {
		return nil, err
	}
	r, err := s.pollingRunner(v, &in.OfRunner)
	if err != nil {
		return nil, err
	}
	after, err := polling.ParseCursor(in.After)
	if err != nil {
		return nil, Refuse(http.StatusBadRequest, "bad_cursor", "%v", err).Hint("Leave it out for the first page.").At("after")
	}
	if v.Phase() == string(selection.Sunset) {
		return nil, Refuse(http.StatusGone, "polling_ended", "cip11.push is sunset: jobs are pushed over QUIC, and none is polled for").
			Hint("Connect to the validators of GET /runner/%s: docs/WIRE.md has the protocol. Heartbeats and results are taken.",
				clipText(in.Address))
	}
	caller, err := s.pollCaller(in, r.Address)
	if err != nil {
		return nil, err
	}
	if err := s.polls.waitForTurn(ctx, caller); err != nil {
		return nil, err
	}
	jobs, next := v.Assignments(r.Address, after)
	bytes := 0
	for i := range jobs {
		bytes += len(jobs[i].JobSpec)
	}
	s.polls.chargeBytes(time.Now(), caller, bytes)
	page := &polledPage{Body: append([]model.PolledJob{}, jobs...)}
	if !next.IsZero() {
		page.Next = next.String()
	}
	return page, nil
}

// pollCaller returns whose ration a poll is in: the runner's if it signed the poll, otherwise
// that of its origin (decision J24). A poll that was heard before, or whose clock is wrong, is
// answered like one without signature.
func (s *Server) pollCaller(in *pollInput, runner types.Address) (pollCaller, error) {
	of := pollCaller{in.from, runner}
	if in.Text == "" {
		return of, nil
	}
	signed := polling.Signed{At: in.At}
	if err := signed.Signature.UnmarshalText([]byte(in.Text)); err != nil {
		return of, Refuse(http.StatusBadRequest, "bad_signature", "signed: %v", err).At("signed")
	}
	signer, ok := pollSigners.Recover(polling.Digest(s.info.ChainID, signed.At), signed.Signature)
	if !ok || signer != runner {
		return of, Refuse(http.StatusBadRequest, "bad_signature", "signed is not the signature of runner %s for at and this chain", runner).
			Hint("Leave at and signed out for a poll without signature.").At("signed")
	}
	if signed.Fresh(uint64(max(time.Now().UnixMilli(), 0))) && s.polls.renewsTime(runner, signed.At) {
		of.from = netip.Prefix{}
	}
	return of, nil
}

// pollSigners recovers the signers of polls. It keeps nothing.
var pollSigners = crypto.NewVerifier(false)

type heartbeatInput struct {
	OnNode
	OfRunner
	Body model.HeartbeatRequest
}

func (s *Server) polledHeartbeat(ctx context.Context, v answers.Reader, in *heartbeatInput) (m model.Reported, err error) {
	r, err := s.pollingRunner(v, &in.OfRunner)
	if err != nil {
		return m, err
	}
	ping := &push.HeartbeatPing{BlockHeight: in.Body.BlockHeight, Nonce: in.Body.Nonce, Signed: in.Body.Signed}
	hash, err := s.backend.BringHeartbeat(ctx, in.Node, r.Address, ping)
	return model.Reported{Hash: &hash}, err
}

type resultInput struct {
	OnNode
	OfRunner
	Body model.ResultRequest
}

func (s *Server) polledResult(ctx context.Context, v answers.Reader, in *resultInput) (m model.Reported, err error) {
	r, err := s.findRunner(v, in.Address, "address")
	if err != nil {
		return m, err
	}
	result := &push.JobResult{JobID: in.Body.JobID, ResultData: in.Body.ResultData, RunnerSigned: in.Body.RunnerSigned,
		CommitSigned: in.Body.CommitSigned}
	return m, s.backend.BringResult(ctx, in.Node, r.Address, result)
}

type refusalInput struct {
	OnNode
	OfRunner
	Body model.RefusalRequest
}

func (s *Server) polledRefusal(ctx context.Context, v answers.Reader, in *refusalInput) (m model.Reported, err error) {
	r, err := s.findRunner(v, in.Address, "address")
	if err != nil {
		return m, err
	}
	ack := &push.JobAck{JobID: in.Body.JobID, Status: push.AckStatus{Reject: new(push.RejectReason(in.Body.Reject))}, Reason: in.Body.Reason,
		RefusalSigned: &in.Body.RefusalSigned}
	return m, s.backend.BringRefusal(ctx, in.Node, r.Address, ack)
}
