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
	"slices"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
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

// entries are the modules that a browser loads with all that they import. The others are
// served for readers.
var entries = []string{"main.js", "worker.js"}

// media are the types of files by the ends of their names.
var media = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// loadAssets reads all files, when the first of them is asked for. Each is compressed when it is
// asked for.
func loadAssets() map[string]*asset {
	texts := map[string][]byte{}
	err := fs.WalkDir(files, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".js" {
			data = stripComments(data)
		}
		if path.Ext(name) == ".css" {
			data = bytes.ReplaceAll(cssSpace().ReplaceAll(data, []byte("$1$2")), []byte(";}"), []byte("}"))
		}
		texts[strings.TrimPrefix(name, "assets/")] = data
		return nil
	})
	if err != nil {
		panic(err) // they are part of the program
	}
	all := map[string]*asset{}
	for name, data := range texts {
		if slices.Contains(entries, name) {
			data = linkModules(texts, name)
		}
		sum := sha256.Sum256(data)
		all[name] = &asset{media: media[path.Ext(name)], etag: `"` + hex.EncodeToString(sum[:12]) + `"`, plain: data,
			zipped: sync.OnceValue(func() []byte { return gzipData(data) })}
	}
	return all
}

// cssSpace is space that a style sheet needs for its readers only, as it needs a semicolon after the last declaration.
var cssSpace = pattern.CompileOnNeed(`\s*([{};,])\s*|(:) +`)

// blockNote is a block that holds a comment alone.
var blockNote = pattern.CompileOnNeed(`\{ /\* [^*\n]* \*/ \}`)

// typeNote is a type within a line.
var typeNote = pattern.CompileOnNeed(`/\*\* @[^*\n]*\*/ ?`)

// stripComments empties the lines of a module that hold a comment only, and removes types within
// lines, comments of empty blocks and indents: a quarter of its compressed size. Lines keep their numbers. No text of a
// module has several lines.
func stripComments(data []byte) []byte {
	data = blockNote().ReplaceAll(typeNote().ReplaceAll(data, nil), []byte("{}"))
	lines, within := bytes.Split(data, []byte("\n")), false
	for i, line := range lines {
		text := bytes.TrimSpace(line)
		lines[i] = text
		begins := bytes.HasPrefix(text, []byte("/*"))
		if within || begins {
			end := bytes.Index(text, []byte("*/"))
			within = end < 0
			if !within && end+2 < len(text) {
				continue // code follows
			}
			lines[i] = nil
		} else if bytes.HasPrefix(text, []byte("//")) {
			lines[i] = nil
		}
	}
	return bytes.Join(lines, []byte("\n"))
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
