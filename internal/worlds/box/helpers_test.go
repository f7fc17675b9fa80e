package box

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// patience bounds every wait of these tests, which all wait for events: only a
// network that stands still lets it pass.
const patience = 60 * time.Second

func testSeed() *uint64 {
	seed := uint64(7)
	return &seed
}

// logger writes what nodes log when DEVNET_LOG is set.
func logger() *slog.Logger {
	if os.Getenv("DEVNET_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func up(t testing.TB, config Config) *Network {
	t.Helper()
	if config.Seed == nil && config.Home == "" {
		config.Seed = testSeed()
	}
	if config.Log == nil {
		config.Log = logger()
	}
	n, err := Up(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// await waits until the network finalizes a height.
func await(t testing.TB, n *Network, height types.Height) {
	t.Helper()
	reached := make(chan struct{}, 1)
	cancel := n.Subscribe(func(h types.Height) {
		if h >= height {
			select {
			case reached <- struct{}{}:
			default:
			}
		}
	})
	defer cancel()
	if n.Best().finalHeight() >= height {
		return
	}
	select {
	case <-reached:
	case <-time.After(patience):
		t.Fatalf("height %d was not reached: the best node is at %d", height, n.Best().finalHeight())
	}
}

// payer signs the transactions of one account, with fees that last.
type payer struct {
	n     *Network
	key   crypto.Signer
	nonce types.Nonce
}

// newPayer is that of an account of genesis.
func newPayer(n *Network, name string) *payer { return payerOf(n, n.Key(name)) }

func payerOf(n *Network, key crypto.Signer) *payer {
	return &payer{n: n, key: key, nonce: n.NextNonce(key.Address())}
}

func (w *payer) sign(to *types.Address, value types.Wei, payload any) *types.Transaction {
	tx := &types.Transaction{ChainID: w.n.genesis.ChainID, Nonce: w.nonce, To: to, Value: value,
		CyclesLimit: 100_000, CellsLimit: 20_000, MaxFeePerCycle: types.WeiOf(2000), MaxFeePerCell: types.WeiOf(2000),
		Payload: codec.Marshal(payload)}
	w.nonce++
	return w.signed(tx)
}

// limited is a transaction with other limits.
func (w *payer) limited(tx *types.Transaction, cycles types.Cycles, cells types.Cells) *types.Transaction {
	tx.CyclesLimit, tx.CellsLimit = cycles, cells
	return w.signed(tx)
}

func (w *payer) signed(tx *types.Transaction) *types.Transaction {
	sig := w.key.Sign(tx.SigningDigest())
	tx.Signature = &sig
	return tx
}

func (w *payer) transfer(to types.Address, wei uint64) *types.Transaction {
	return w.sign(&to, types.WeiOf(wei), types.Transfer{Kind: types.KindTransfer})
}

func (w *payer) execute(actor types.Address, handler string, payload []byte) *types.Transaction {
	return w.sign(&actor, types.Wei{}, types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload})
}

func (w *payer) deploy(code []byte, name string, fund uint64) *types.Transaction {
	return w.sign(nil, types.WeiOf(fund), types.Deploy{Kind: types.KindDeploy, Code: code, Manifest: types.Manifest{Name: name}})
}

// land submits a transaction and returns its receipt.
func land(t testing.TB, n *Network, tx *types.Transaction) *types.Receipt {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	hash, err := n.Submit(ctx, tx.Encode())
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := n.Wait(ctx, hash)
	if err != nil {
		t.Fatal(err)
	}
	return &receipt.Receipt
}

func deploySample(t testing.TB, w *payer, sample, name string, fund uint64) types.Address {
	t.Helper()
	receipt := land(t, w.n, w.deploy(samples.Code(sample), name, fund))
	if receipt.Status != types.StatusOK {
		t.Fatalf("deploying %s: %s: %+v", sample, receipt.Status, receipt.Error)
	}
	return receipt.To
}

// logged keeps what is logged.
type logged struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Write implements io.Writer.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept.Write(p)
}

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept.String()
}

func (l *logged) contains(words string) bool { return strings.Contains(l.text(), words) }
