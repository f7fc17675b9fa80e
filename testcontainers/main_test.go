package devnet_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"

	devnet "github.com/cowboyinc/devnet/testcontainers"
)

func TestMain(m *testing.M) {
	// Its reaper is an image that has to be pulled. These tests remove what they make.
	if os.Getenv("TESTCONTAINERS_RYUK_DISABLED") == "" {
		os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	}
	os.Exit(m.Run())
}

// healthPatience is the time that an engine has for its first answer, on a machine with
// much else to do.
const healthPatience = 30 * time.Second

// engine is why no engine answers; found out once.
var engine = sync.OnceValue(func() (missing error) {
	defer func() {
		if p := recover(); p != nil { // testcontainers' way to say that it found none
			missing = fmt.Errorf("%v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), healthPatience)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "docker", "version").CombinedOutput(); err != nil { // make image needs it
		return fmt.Errorf("docker version: %w: %s", err, out)
	}
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return err
	}
	defer provider.Close()
	return provider.Health(ctx)
})

// made makes the image once, unless it exists.
var made = sync.OnceValues(func() (name string, err error) {
	if name = os.Getenv("DEVNET_IMAGE"); name == "" {
		name = devnet.Image
	}
	if exec.Command("docker", "image", "inspect", name).Run() == nil {
		return name, nil
	}
	command := exec.Command("make", "image", "IMAGE="+name)
	command.Dir = ".."
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make image: %w\n%s", err, out)
	}
	return name, nil
})

// image is the image of devnet. A test without an engine is skipped. It fails if
// DEVNET_IMAGE names the image, as make testcontainers does: an engine has it.
func image(t *testing.T) string {
	t.Helper()
	if err := engine(); err != nil {
		if os.Getenv("DEVNET_IMAGE") != "" {
			t.Fatalf("no Docker engine answers here: %v", err)
		}
		t.Skipf("no Docker engine answers here: %v", err)
	}
	name, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return name
}
