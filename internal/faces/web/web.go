// Package web serves the files of a folder at the API's origin, for an author's own
// page: the page's requests to the network need no other origin.
//
// The author owns the folder, yet a link in it may lead anywhere, and everyone who
// reaches the API reads the served files. So only regular files within the folder are, by
// names without a dot in front.
package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Path is where a folder is served.
const Path = "/app/"

// MaxFileBytes is the largest file that is served: a page with all that it imports is
// smaller, and a dump of a database that lies in the folder is not.
const MaxFileBytes = 16 << 20

// policy lets a page run its own modules, styles and pictures, and call its own server. A
// text of the chain that became an element of the page by mistake runs nothing.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"worker-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// media are the types of the files of pages. The machine's table is not asked, so that a
// page is the same on each machine.
var media = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".json": "application/json", ".map": "application/json", ".svg": "image/svg+xml",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".ico": "image/x-icon",
	".woff2": "font/woff2", ".wasm": "application/wasm", ".txt": "text/plain; charset=utf-8", ".ts": "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json"}

// Dir is a folder that is served.
type Dir struct{ root *os.Root }

// Open opens a folder.
func Open(dir string) (*Dir, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Dir{root}, nil
}

// Close closes it. Files that are being served are served to their end.
func (d *Dir) Close() error { return d.root.Close() }

// ServeHTTP answers GET and HEAD below Path.
func (d *Dir) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Path)
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	file, info, err := d.openFile(name)
	if err != nil {
		writeRefusal(w, name, err)
		return
	}
	defer file.Close()
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("Cache-Control", "no-cache") // the author edits them
	if kind, known := media[strings.ToLower(path.Ext(name))]; known {
		head.Set("Content-Type", kind)
	} else {
		head.Set("Content-Type", "application/octet-stream")
		head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	}
	http.ServeContent(w, r, "", info.ModTime(), file)
}

// errTooLarge refuses a file above MaxFileBytes.
var errTooLarge = errors.New("the file is too large")

// openFile opens a regular file of the folder. The root follows no link that leads out.
func (d *Dir) openFile(name string) (io.ReadSeekCloser, os.FileInfo, error) {
	for _, part := range strings.Split(name, "/") {
		if strings.HasPrefix(part, ".") {
			return nil, nil, os.ErrNotExist
		}
	}
	// Only regular files are opened: a pipe would wait for its other end.
	info, err := d.root.Stat(name)
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, os.ErrNotExist
	case info.Size() > MaxFileBytes:
		return nil, nil, fmt.Errorf("%w: %d bytes, at most %d", errTooLarge, info.Size(), MaxFileBytes)
	}
	file, err := d.root.Open(name)
	return file, info, err
}

// writeRefusal explains why a file is not served, without the folder's path.
func writeRefusal(w http.ResponseWriter, name string, err error) {
	if len(name) > 100 {
		name = name[:100] + "…"
	}
	body := model.ErrorBody{Code: "unknown_path", Message: fmt.Sprintf("the folder of --web has no file %q", name),
		Hint: "A file is within the folder, and its name begins with no dot."}
	if errors.Is(err, errTooLarge) {
		body = model.ErrorBody{Code: "too_large", Message: fmt.Sprintf("%q: %v", name, err), Hint: "Serve it by another server."}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(model.Error{Error: body})
}
