package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

//go:embed assets
var files embed.FS

// index is what GET / answers.
const index = "index.html"

// policy lets the page run its own modules and styles and call its own server, and
// nothing else. Its only trusted type is the one policy by which it names its worker.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; " +
	"trusted-types page"

// asset is a file of the page, ready to be sent.
type asset struct {
	media  string
	etag   string // of its content
	plain  []byte
	zipped func() []byte
}

// media are the types of files by the ends of their names.
var media = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".map": "application/json", ".svg": "image/svg+xml"}

// loadAssets reads all files, when the first of them is asked for. Each is compressed when it is
// asked for.
func loadAssets() map[string]*asset {
	all := map[string]*asset{}
	err := fs.WalkDir(files, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		all[strings.TrimPrefix(name, "assets/")] = &asset{media: media[path.Ext(name)], plain: data,
			etag: `"` + hex.EncodeToString(sum[:12]) + `"`, zipped: sync.OnceValue(func() []byte { return gzipData(data) })}
		return nil
	})
	if err != nil {
		panic(err) // they are part of the program
	}
	return all
}

func gzipData(data []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a level that exists, and memory
	}
	return out.Bytes()
}

// serveAsset answers with a file. A browser asks each time whether it has changed, so that
// a page of another build is never shown.
func (p *Page) serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	if r.URL.Path == "/" {
		name = index
	}
	a := p.assets()[name]
	if a == nil || name == index && r.URL.Path != "/" {
		writeRefusal(w, http.StatusNotFound, model.ErrorBody{Code: "unknown_path", Message: "the page has no such file",
			Hint: "GET / is the page."})
		return
	}
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("Cache-Control", "no-cache")
	head.Set("ETag", a.etag)
	head.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head.Set("Content-Type", a.media)
	body := a.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		head.Set("Content-Encoding", "gzip")
		body = a.zipped()
	}
	_, _ = w.Write(body) // the client may be gone
}

// writeRefusal answers in the API's one shape of errors.
func writeRefusal(w http.ResponseWriter, status int, e model.ErrorBody) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(model.Error{Error: e})
}
