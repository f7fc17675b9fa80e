package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/typo"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/history"
)

func (s *Server) registerDevnet() {
	serveLatest(s, operation{id: "faucet", path: "/faucet", tag: tagDevnet,
		client:  "Faucet(address string) gives an account what the faucet gives.",
		summary: "Give an account 5,000 CBY; answers once final", errors: []int{404, 409, 429, 504},
		request:  model.FaucetRequest{Address: "0x00000000000000000000000000000000000000aa"},
		response: model.Faucet{Hash: exampleHash, Amount: types.WeiOf(5000 * types.CBY)}}, s.payFromFaucet)
	serveRead(s, operation{id: "devnet_accounts", path: "/devnet/accounts", tag: tagDevnet,
		client:   "Accounts() lists the accounts that the devnet signs for.",
		summary:  "The funded accounts that the devnet signs for",
		response: []model.DevnetAccount{{Name: "alice", Address: exampleAddress, Balance: types.WeiOf(1_000_000 * types.CBY)}}}, s.listAccounts)
	serveLatest(s, operation{id: "devnet_send", path: "/devnet/send", tag: tagDevnet,
		summary: "Sign and submit a call or a transfer; answers the receipt once final",
		description: "The devnet signs with the key of from and takes care of nonce and fees. A handler that fails answers 200: " +
			"its receipt has the status. payload is bytes if it begins with 0x, otherwise UTF-8 text. A dry run counts as a read.",
		errors:  []int{404, 409, 429, 504},
		request: model.SendRequest{From: "alice", To: "heartbeat", Handler: "start"}, response: model.Sent{Receipt: exampleReceipt}},
		s.sendTransaction)
	serveLatest(s, operation{id: "devnet_deploy", path: "/devnet/deploy", tag: tagDevnet,
		client:      "Deploy(r DeployRequest) has the devnet deploy an actor.",
		summary:     "Deploy an actor; answers its address and the receipt once final",
		description: "init runs once with the payload init. Code that is refused answers 200: its receipt has the status and the line.",
		errors:      []int{404, 409, 429, 504},
		request:     model.DeployRequest{From: "alice", Code: "def ping(payload):\n    return b\"pong\"\n", Name: "ping"},
		response:    model.Deployed{Address: exampleAddress, Receipt: exampleReceipt}}, s.deployActor)
}

// permitPath refuses a path that a strict network has not.
func (s *Server) permitPath(path string) *Error {
	if !s.info.Strict || !isCheatPath(path) {
		return nil
	}
	return Refuse(http.StatusForbidden, "strict", "%s is off: this network runs with --strict", path).
		Hint("Sign with your own key and use POST /submit, or start the network without --strict.")
}

// Accounts is the answer of GET /devnet/accounts of a network that is not strict.
func (s *Server) Accounts() ([]model.DevnetAccount, error) {
	latest, err := s.backend.Reader("")
	if err != nil {
		return nil, err
	}
	return s.listAccounts(context.Background(), latest, nil)
}

func (s *Server) listAccounts(_ context.Context, v answers.Reader, _ *OnMoment) ([]model.DevnetAccount, error) {
	out := []model.DevnetAccount{}
	for _, named := range s.backend.Accounts() {
		a, err := v.Account(named.Address)
		if err != nil {
			return nil, err
		}
		out = append(out, model.DevnetAccount{Name: named.Name, Address: named.Address, Nonce: a.Nonce, Balance: a.Balance})
	}
	return out, nil
}

func (s *Server) payFromFaucet(ctx context.Context, v answers.Reader, in *model.FaucetRequest) (m model.Faucet, err error) {
	to, err := s.resolveAddress(v, in.Address, "address")
	if err != nil {
		return m, err
	}
	amount := s.info.Faucet
	key := s.backend.Signer(wallet.Faucet)
	if key == nil {
		return m, Refuse(http.StatusForbidden, "no_faucet", "this network has no faucet account")
	}
	r, err := s.signAndAwait(ctx, v, key, wallet.Draft{To: &to, Value: amount, Payload: types.Transfer{Kind: types.KindTransfer}})
	if err != nil {
		return m, err
	}
	if r.Status != types.StatusOK {
		return m, Refuse(http.StatusServiceUnavailable, "faucet_failed", "the faucet's transfer ended with %s", r.Status).
			Hint("GET /transaction/%s/receipt says why.", r.Hash)
	}
	return model.Faucet{Hash: r.Hash, Amount: amount}, nil
}

func (s *Server) sendTransaction(ctx context.Context, v answers.Reader, in *model.SendRequest) (m model.Sent, err error) {
	by, err := s.signerFor(v, in.From)
	if err != nil {
		return m, err
	}
	to, err := s.resolveAddress(v, in.To, "to")
	if err != nil {
		return m, err
	}
	if in.Handler == "" && in.Args != nil {
		return m, Refuse(http.StatusBadRequest, "invalid_request", "args need a handler to receive them").At("handler")
	}
	data, err := s.resolvePayload(v, HandlerOf(to, in.Handler), in.Payload, "payload", in.Args)
	if err != nil {
		return m, err
	}
	if in.Handler == "" && len(data) > 0 {
		return m, Refuse(http.StatusBadRequest, "invalid_request", "a payload needs a handler to receive it").At("handler")
	}
	sponsor := types.SponsorOf(orDefault(in.Sponsor, types.Wei{}))
	if in.Handler == "" && sponsor != nil {
		return m, Refuse(http.StatusBadRequest, "invalid_request", "a sponsor needs a handler, whose timers it may pay for").At("sponsor")
	}
	d := wallet.Draft{To: &to, Value: orDefault(in.Value, types.Wei{}), Cycles: in.CyclesLimit, Cells: in.CellsLimit,
		Payload: types.Transfer{Kind: types.KindTransfer}}
	if in.Handler != "" {
		d.Payload = types.Execute{Kind: types.KindExecute, Handler: in.Handler, Payload: data, Sponsor: sponsor}
	}
	if in.Trace && !in.DryRun {
		return m, Refuse(http.StatusBadRequest, "invalid_request", "trace needs dry_run").At("trace").
			Hint("GET /transaction/{hash}/trace shows the trace of an executed transaction.")
	}
	var r *history.Executed
	var trace *model.Trace
	switch {
	case in.NoWait && in.DryRun:
		err = Refuse(http.StatusBadRequest, "invalid_request", "a dry run is over at once: leave out no_wait").At("no_wait")
	case in.NoWait:
		r, err = s.handedIn(ctx, v, &by, d)
	case in.DryRun:
		r, trace, err = s.simulateTransaction(ctx, v, by.key, by.signDraft(d))
	default:
		r, err = s.signAndAwait(ctx, v, by.key, by.signDraft(d))
	}
	if err != nil {
		return m, err
	}
	if !in.DryRun {
		s.reportImpersonation(&by, &r.Receipt)
	}
	as := TypesOf(v)
	m.Receipt = as.Receipt(&r.Receipt, r.Logs)
	if in.Trace && trace != nil {
		m.Trace = trace
		as.typeTrace(m.Trace)
	}
	return m, nil
}

// StatusPending is the status of a receipt whose transaction is in the mempool.
const StatusPending types.Status = "pending"

// handedIn submits a transaction and answers with its receipt, as far as known.
func (s *Server) handedIn(ctx context.Context, v answers.Reader, by *signer, d wallet.Draft) (*history.Executed, error) {
	h, _, err := s.handIn(ctx, v, by.key, by.signDraft(d))
	if err != nil {
		return nil, err
	}
	r := types.Receipt{Hash: h, Origin: types.OriginTransaction, Sender: by.signerAddress(), To: *d.To, Status: StatusPending}
	if call, ok := d.Payload.(types.Execute); ok {
		r.Handler = call.Handler
	}
	return &history.Executed{Receipt: r}, nil
}

func (s *Server) simulateTransaction(ctx context.Context, v answers.Reader, key env.Signer, d Signable) (*history.Executed, *model.Trace,
	error) {
	free, err := s.beginRead(ctx, s.reads)
	if err != nil {
		return nil, nil, err
	}
	defer free()
	account, err := v.Account(key.Address())
	if err != nil {
		return nil, nil, err
	}
	return v.Simulate(ctx, d.Sign(feeOffer(s.info.ChainID, v.Head()), key, account.Nonce))
}

func (s *Server) deployActor(ctx context.Context, v answers.Reader, in *model.DeployRequest) (m model.Deployed, err error) {
	by, err := s.signerFor(v, in.From)
	if err != nil {
		return m, err
	}
	code, err := decodePayload(in.Code, "code")
	if err != nil {
		return m, err
	}
	init, err := s.resolvePayload(v, InitOf(code), in.Init, "init", in.Args)
	if err != nil {
		return m, err
	}
	terms, err := s.termsOf(v, in.Upgrade)
	if err != nil {
		return m, err
	}
	if in.Name != "" {
		release, err := s.claims.claimName(v, in.Name, by.signerAddress(), in.Replace)
		if err != nil {
			return m, err
		}
		defer release()
	}
	d := wallet.Draft{Value: orDefault(in.Fund, types.Wei{}), Cycles: in.CyclesLimit, Cells: in.CellsLimit,
		Payload: types.Deploy{Kind: types.KindDeploy, Code: code, Init: init, Manifest: types.Manifest{Name: in.Name, Upgrade: terms}}}
	would, err := s.checkRunnable(ctx, v, by.key, by.signDraft(d))
	if err == nil {
		err = withoutArguments(v, code, would, in)
	}
	if err != nil {
		return m, err
	}
	r, err := s.signAndAwait(ctx, v, by.key, by.signDraft(d))
	if err != nil {
		return m, err
	}
	s.reportImpersonation(&by, &r.Receipt)
	return model.Deployed{Address: r.To, Receipt: answers.ShowReceipt(&r.Receipt, r.Logs)}, nil
}

// checkRunnable refuses a deploy that no validator here could execute, since it
// would wait for one without end. The code's behaviour is not judged.
func (s *Server) checkRunnable(ctx context.Context, v answers.Reader, key env.Signer, d Signable) (would *history.Executed, err error) {
	would, _, err = s.simulateTransaction(ctx, v, key, d)
	unable := []string{answers.CodeNoProgramHost, answers.CodeHostFailed, answers.CodeLateBefore}
	if refused := Answer(err); refused != nil && slices.Contains(unable, refused.Body.Code) {
		return nil, refused
	}
	return would, nil
}

// withoutArguments refuses a deploy that gives nothing to a typed init that needs arguments,
// before the deployer pays for that. would is its simulated execution, nil if there is none.
func withoutArguments(v answers.Reader, code []byte, would *history.Executed, body *model.DeployRequest) error {
	if body.Init != "" || body.Args != nil || would == nil || would.Receipt.Error == nil || would.Receipt.Error.Code != codeBadArgument {
		return nil
	}
	if _, _, err := InitOf(code)(v); err != nil {
		return nil // an error of the author's that has this name
	}
	return Refuse(http.StatusBadRequest, codeBadArgument, "%s", would.Receipt.Error.Message).At("args").
		Hint("init has typed arguments: give them as args, or NAME=VALUE on the command line.")
}

// accountKey returns the key of a devnet account.
func (d directory) accountKey(name string) (env.Signer, error) {
	var known []string
	for _, account := range d.backend.Accounts() {
		known = append(known, account.Name)
		if account.Name == name || account.Address.String() == name {
			if key := d.backend.Signer(account.Name); key != nil {
				return key, nil
			}
		}
	}
	return nil, Refuse(http.StatusNotFound, "unknown_signer", "the devnet has no key of %q%s", clipText(name), typo.Suggestion(name, known)).
		Hint("GET /devnet/accounts lists the accounts it signs for; with any other key use POST /submit.").At("from")
}

// signAndAwait signs a transaction, submits it and waits for its receipt.
func (s *Server) signAndAwait(ctx context.Context, v answers.Reader, key env.Signer, d Signable) (*history.Executed, error) {
	if err := s.requireMoving(); err != nil {
		return nil, err
	}
	free, err := s.waiters.takePlace()
	if err != nil {
		return nil, err
	}
	defer free()
	h, nonce, err := s.handIn(ctx, v, key, d)
	if err != nil {
		return nil, err
	}
	answers.TellHandedIn(ctx, h)
	r, err := s.awaitReceipt(ctx, h)
	if refused := Answer(err); refused != nil && refused.Body.Code == refusal.CodeDropped {
		s.nonces.giveBack(key.Address(), nonce)
	}
	return r, err
}

// handIn signs a transaction and submits it.
func (s *Server) handIn(ctx context.Context, v answers.Reader, key env.Signer, d Signable) (types.Hash, types.Nonce, error) {
	head, chain := v.Head(), s.info.ChainID
	return s.nonces.submitWithNonce(ctx, key.Address(), head.Height, func(nonce types.Nonce) []byte {
		return d.Sign(feeOffer(chain, head), key, nonce).Encode()
	})
}

// feeOffer is what the devnet offers for a transaction: twice the next block's base
// fees.
func feeOffer(chain uint64, head answers.Head) wallet.Offer {
	return wallet.Times(2, chain, head.NextBaseFeeCycle, head.NextBaseFeeCell)
}

func orDefault[T any](given *T, otherwise T) T {
	if given != nil {
		return *given
	}
	return otherwise
}
