package devnet

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/testcontainers/testcontainers-go"
)

// Image is what make image calls the image.
const Image = "cowboy-devnet"

// settings are what options of this package say. Every other option belongs to a
// container.
type settings struct {
	validators, runners int
	seed                uint64
	blockTime           time.Duration
	auto                bool
	params              map[string]string
	customizers         []testcontainers.ContainerCustomizer
}

// Option says what a network is like. It may be among the options of testcontainers,
// which apply to each of the network's containers.
type Option func(*settings)

// Customize implements testcontainers.ContainerCustomizer: an option of the network
// changes no container by itself.
func (Option) Customize(*testcontainers.GenericContainerRequest) error { return nil }

// WithValidators says how many there are: v0, v1, …. The default is 4.
func WithValidators(n int) Option { return func(s *settings) { s.validators = n } }

// WithRunners says how many there are: r0, r1, …. The default is 4.
func WithRunners(n int) Option { return func(s *settings) { s.runners = n } }

// WithSeed sets the seed of the named accounts' keys, and of all keys of one
// container. The default is 1.
func WithSeed(seed uint64) Option { return func(s *settings) { s.seed = seed } }

// WithBlockTime is the time from block to block, in whole milliseconds. The default is
// 200 ms.
func WithBlockTime(d time.Duration) Option { return func(s *settings) { s.blockTime = d } }

// WithAuto has blocks made when there is something to do, and no others.
func WithAuto() Option { return func(s *settings) { s.auto = true } }

// WithParam sets a parameter of the protocol at genesis; devnet params lists them.
func WithParam(key, value string) Option { return func(s *settings) { s.params[key] = value } }

// The most nodes of a network in containers of one machine.
const maxNodes = 100

func settingsOf(options []testcontainers.ContainerCustomizer) (*settings, error) {
	s := &settings{validators: 4, runners: 4, seed: 1, blockTime: 200 * time.Millisecond, params: map[string]string{}}
	for _, one := range options {
		if option, own := one.(Option); own {
			option(s)
		} else {
			s.customizers = append(s.customizers, one)
		}
	}
	switch {
	case s.validators < 1 || s.validators > maxNodes:
		return nil, fmt.Errorf("devnet.WithValidators: a network has 1 to %d, and got %d", maxNodes, s.validators)
	case s.runners < 0 || s.runners > maxNodes:
		return nil, fmt.Errorf("devnet.WithRunners: a network has 0 to %d, and got %d", maxNodes, s.runners)
	case s.blockTime < 0 || s.blockTime > time.Hour || s.blockTime%time.Millisecond != 0:
		return nil, fmt.Errorf("devnet.WithBlockTime: whole milliseconds up to an hour, and got %v", s.blockTime)
	}
	return s, nil
}

// upCommand is devnet up with these settings.
func (s *settings) upCommand() []string {
	return []string{"up", "--http", fmt.Sprintf("0.0.0.0:%d", port), "--home", inside + "/home", "--config", inside + "/devnet.toml",
		"--validators", strconv.Itoa(s.validators), "--runners", strconv.Itoa(s.runners), "--seed", strconv.FormatUint(s.seed, 10),
		"--block-time", s.blockTimeFlag()}
}

// blockTimeFlag is what --block-time is given.
func (s *settings) blockTimeFlag() string {
	if s.auto {
		return "auto"
	}
	return s.blockTime.String()
}

// configFile is devnet.toml: the parameters.
func (s *settings) configFile() string {
	lines := []string{"[params]"}
	for _, key := range slices.Sorted(maps.Keys(s.params)) {
		lines = append(lines, fmt.Sprintf("%q = %q", key, s.params[key]))
	}
	return strings.Join(lines, "\n") + "\n"
}
