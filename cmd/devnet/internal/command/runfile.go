package command

import (
	"encoding/json"
	"os"

	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// RunFile is run.json: where the process on a home answers.
type RunFile struct {
	HTTP    string `json:"http"` // host:port
	PID     int    `json:"pid"`
	ChainID uint64 `json:"chain_id"`
}

// HomeHTTP returns the address of the network that runs on a home, or "".
func HomeHTTP(dir string) string {
	if _, open := home.User(dir); !open {
		return "" // what run.json says is left over from a process that was killed
	}
	data, err := os.ReadFile(home.RunFile(dir))
	if err != nil {
		return ""
	}
	var r RunFile
	if json.Unmarshal(data, &r) != nil {
		return ""
	}
	return r.HTTP
}

// WriteRunFile writes where the process on a home answers.
func WriteRunFile(dir string, r RunFile) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return home.WriteFile(home.RunFile(dir), append(data, '\n'), store.Process) // no longer than the process
}
