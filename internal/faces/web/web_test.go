package web

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func folder(t *testing.T) (*Dir, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"secret": "no", "web/index.html": "<p>hi", "web/sub/index.html": "sub", "web/a.js": "1",
		"web/b": "b", "web/.env": "no", "web/.git/config": "no", "web/x.exe": "no"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	top := filepath.Join(dir, "web")
	for to, from := range map[string]string{"../secret": "out.txt", "a.js": "inside.js", "..": "up",
		filepath.Join(dir, "secret"): "absolute.txt"} {
		if err := os.Symlink(to, filepath.Join(top, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(top, "pipe.txt"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Open(top)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, top
}

func ask(d *Dir, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/app/", nil)
	r.URL.Path = path // as it is, whatever a client would make of it
	d.ServeHTTP(w, r)
	return w
}

func TestFilesOfTheFolderAreServedWithTheirTypeAndPolicy(t *testing.T) {
	d, _ := folder(t)
	for path, want := range map[string][2]string{"/app/": {"<p>hi", "text/html; charset=utf-8"},
		"/app/index.html": {"<p>hi", "text/html; charset=utf-8"},
		"/app/sub/":       {"sub", "text/html; charset=utf-8"}, "/app/a.js": {"1", "text/javascript; charset=utf-8"},
		"/app/inside.js": {"1", "text/javascript; charset=utf-8"}, "/app/b": {"b", "application/octet-stream"}} {
		w := ask(d, path)
		if w.Code != http.StatusOK || w.Body.String() != want[0] || w.Header().Get("Content-Type") != want[1] {
			t.Errorf("%s answers %d %q as %s", path, w.Code, w.Body, w.Header().Get("Content-Type"))
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s has the policy %q", path, csp)
		}
	}
}

func TestNothingOutsideTheFolderIsServed(t *testing.T) {
	d, top := folder(t)
	if err := os.WriteFile(filepath.Join(top, "large.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(top, "large.txt"), MaxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/app/../secret", "/app/sub/../../secret", "/app//etc/passwd", "/app/out.txt", "/app/absolute.txt",
		"/app/up/secret", "/app/.env", "/app/.git/config", "/app/sub", "/app/none", "/app/pipe.txt", "/app/a.js\x00.html", "/app/large.txt",
		"/app/..", "/app/./a.js"} {
		w := ask(d, path)
		if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), top) || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%q answers %d %s", path, w.Code, w.Body)
		}
	}
}

func TestAFolderThatIsNotThereIsNotOpened(t *testing.T) {
	_, top := folder(t)
	for _, dir := range []string{top + "/none", top + "/a.js"} {
		if _, err := Open(dir); err == nil {
			t.Errorf("%s was opened", dir)
		}
	}
}
