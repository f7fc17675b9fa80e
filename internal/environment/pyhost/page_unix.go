//go:build unix && !linux

package pyhost

import (
	"errors"
	"os"
	"time"
)

// unnamedFile makes a file and takes its name away.
func unnamedFile() (*os.File, error) {
	file, err := os.CreateTemp("", "devnet-meter-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

var errNoClock = errors.New("this system does not tell the CPU time of another process")

// cpuTime is not told by these systems without their own libraries.
func cpuTime(int) (time.Duration, error) { return 0, errNoClock }
