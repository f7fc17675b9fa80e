package listen

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

// CORSFlag are the origins of pages that may call the API. variables are of the environment.
func CORSFlag(variables ...string) cli.Flag {
	return &cli.StringSliceFlag{Name: "cors", EnvVars: variables,
		Usage: "`ORIGIN` whose pages may call the API, like http://localhost:5173; may be given again"}
}

// ReadList is the values of a flag that may be given again, or of its variable: commas separate them there. An empty
// variable leaves otherwise.
func ReadList(c *cli.Context, flag string, otherwise []string) (all []string) {
	for _, given := range c.StringSlice(flag) {
		for _, one := range strings.Split(given, ",") {
			if one = strings.TrimSpace(one); one != "" {
				all = append(all, one)
			}
		}
	}
	if len(all) == 0 {
		return otherwise
	}
	return all
}

// HostFlag are the names by which clients may call the API.
func HostFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "host", EnvVars: []string{api.HostVariable},
		Usage: "`NAME` by which clients may call the API, like devnet, or .example.org for all names below; may be given again"}
}

// ReadHosts reads names by which clients may call the API, in place. flag is where they are from.
func ReadHosts(flag string, all []string) error {
	if len(all) > api.MaxHosts {
		return failure.NewUsage("Leave some out, or give .NAME for all names below NAME.", "%s: %d names are more than %d", flag, len(all),
			api.MaxHosts)
	}
	for i, text := range all {
		name, err := api.ParseHost(text)
		if err != nil {
			return failure.NewUsage("Give what clients write between http:// and the port.", "%s: %v", flag, err)
		}
		all[i] = name
	}
	return nil
}

// ReadOrigins reads the origins of pages that may call the API, in place.
func ReadOrigins(all []string) error {
	if len(all) > api.MaxOrigins {
		return failure.NewUsage("Leave some out.", "--cors: %d origins are more than %d", len(all), api.MaxOrigins)
	}
	for i, text := range all {
		origin, err := api.ParseOrigin(text)
		if err != nil {
			return failure.NewUsage("Give what the address bar of the page begins with, like http://localhost:5173.", "--cors: %v", err)
		}
		all[i] = origin
	}
	return nil
}
