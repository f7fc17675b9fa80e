package launch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// DefaultImage is the image of the containers of a network.
const DefaultImage = "cowboy-devnet"

// ChainFlags say what the chain of a network that runs elsewhere is.
func ChainFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "validators", Value: 4, Usage: fmt.Sprintf("`N` validators, 1 to %d", setup.MaxValidators)},
		&cli.IntFlag{Name: "runners", Value: defaultRunners, Usage: fmt.Sprintf("`N` runners, 0 to %d", setup.MaxRunners)},
		&cli.StringFlag{Name: "block-time", DefaultText: "1s", Usage: "`TIME` between blocks, as of up"},
		&cli.StringSliceFlag{Name: "param", Usage: "`KEY=VALUE` of a parameter; may be given again"},
	}
}

// ReadChain judges what ChainFlags say.
func ReadChain(c *cli.Context, strict bool) (chain setup.Plan, err error) {
	s := defaultSettings()
	s.Validators, s.asked, s.Runners = c.Int("validators"), true, new(c.Int("runners"))
	s.BlockTime, s.Strict, s.ChainID = c.String("block-time"), strict, wallet.ChainID
	if s.Params, err = paramsOf(c.StringSlice("param")); err != nil {
		return chain, err
	}
	if err := s.validateSettings(); err != nil {
		return chain, err
	}
	return s.ChainConfig(), nil
}

// paramsOf reads parameters in the form of a flag.
func paramsOf(given []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range given {
		key, value, is := strings.Cut(text, "=")
		if !is || key == "" {
			return nil, failure.NewUsage("Give a key and a value, like "+policyKey+"=fifo.", "--param: %s is not KEY=VALUE", strconv.Quote(text))
		}
		if _, twice := all[key]; twice {
			return nil, failure.NewUsage("", "--param: %s is given twice", key)
		}
		all[key] = value
	}
	return all, nil
}
