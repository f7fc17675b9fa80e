package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

// served is the page on an API that has nothing.
func served(t *testing.T) *http.ServeMux {
	t.Helper()
	mux := http.NewServeMux()
	Serve(mux, nil, nil)
	return mux
}

func asked(mux http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

// each calls f for every file of the page.
func each(t *testing.T, f func(name, text string)) {
	t.Helper()
	err := fs.WalkDir(files, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		f(strings.TrimPrefix(name, "assets/"), string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheServerNamesAPolicyWithoutAnythingInline(t *testing.T) {
	mux := served(t)
	for _, path := range []string{"/", "/page/bundle/main.js", "/page/page.css", "/page/bundle/worker.js"} {
		w := asked(mux, path)
		csp := w.Header().Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
			"frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s: %q lacks %s", path, csp, part)
			}
		}
		if w.Code != http.StatusOK || strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") {
			t.Errorf("%s: %d, %q", path, w.Code, csp)
		}
	}
}

func TestAFileIsSentOnceAndThenKnownByItsContent(t *testing.T) {
	mux := served(t)
	first := asked(mux, "/page/kit.js", "Accept-Encoding", "gzip")
	unzipped, err := gzip.NewReader(first.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unzipped)
	if err != nil || !bytes.Equal(text, asked(mux, "/page/kit.js").Body.Bytes()) {
		t.Fatalf("compressed and plain differ: %v", err)
	}
	etag := first.Header().Get("ETag")
	if again := asked(mux, "/page/kit.js", "If-None-Match", etag); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("the same content is answered %d with %d bytes", again.Code, again.Body.Len())
	}
	if other := asked(mux, "/page/api.js"); other.Header().Get("ETag") == etag {
		t.Error("two files have one ETag")
	}
}

func TestWhatThePageHasNotIsRefusedInJSON(t *testing.T) {
	mux := served(t)
	for _, path := range []string{"/page/none.js", "/page/", "/page/index.html", "/page/views"} {
		if w := asked(mux, path); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `"unknown_path"`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// The budget of issue 27.
func TestThePageIsSmall(t *testing.T) {
	zipped, lines := 0, 0
	all := loadAssets()
	for name, a := range all {
		if n := bytes.Count(a.plain, []byte("\n")); !isBundle(name) {
			lines += n
			if n > 400 {
				t.Errorf("%s has %d lines", name, n)
			}
		}
		if a.media == "" {
			t.Errorf("%s has no type", name)
		}
	}
	for _, name := range []string{index, "page.css", "icon.svg", "boot.js", "bundle/main.js", "bundle/worker.js"} { // a browser loads these
		zipped += len(all[name].zipped())
	}
	if zipped > 70<<10 {
		t.Errorf("a browser loads %d bytes compressed, and may load %d", zipped, 70<<10)
	}
	t.Logf("a browser loads %d bytes compressed", zipped)
	if lines > 9000 {
		t.Errorf("all files have %d lines", lines)
	}
}

var (
	foreign = regexp.MustCompile(`(https?:)?//[a-z0-9.-]+\.[a-z]{2,}`)
	// unsafe are ways from text to markup or to code.
	unsafe = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|` +
		`setHTMLUnsafe|srcdoc|\beval\(|new Function|javascript:`)
	// stored are browser stores that outlive a tab. The page keeps only the theme, in localStorage.
	stored = regexp.MustCompile(`sessionStorage|indexedDB|document\.cookie|caches\.`)
	module = regexp.MustCompile(`(?m)^import [^;]*?from '([^']+)';`)
)

func TestNoFileNamesAForeignHost(t *testing.T) {
	each(t, func(name, text string) {
		for _, host := range foreign.FindAllString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), -1) {
			t.Errorf("%s names %s", name, host)
		}
	})
}

func TestTextNeverBecomesMarkup(t *testing.T) {
	each(t, func(name, text string) {
		for _, way := range append(unsafe.FindAllString(text, -1), stored.FindAllString(text, -1)...) {
			t.Errorf("%s has %s", name, way)
		}
		if strings.HasSuffix(name, ".html") && regexp.MustCompile(`<script>|<style|\son[a-z]+=|\sstyle=`).MatchString(text) {
			t.Errorf("%s has something inline", name)
		}
	})
}

// loadModules is the text of each source of the scripts, by its name.
func loadModules(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	each(t, func(name, text string) {
		if path.Ext(name) == ".js" && !isBundle(name) {
			all[name] = text
		}
	})
	return all
}

// importsOf are the names of the modules that a module imports.
func importsOf(name, text string) []string {
	var all []string
	for _, found := range module.FindAllStringSubmatch(text, -1) {
		all = append(all, path.Join(path.Dir(name), found[1]))
	}
	return all
}

func TestEachModuleImportsWhatIsThere(t *testing.T) {
	all := loadModules(t)
	used := map[string]bool{"boot.js": true, "main.js": true, "worker.js": true}
	for name, text := range all {
		if !strings.HasPrefix(text, "// @ts-check\n") {
			t.Errorf("%s is not checked for types", name)
		}
		for _, to := range importsOf(name, text) {
			used[to] = true
			if _, there := all[to]; !there {
				t.Errorf("%s imports %s, and no such file exists", name, to)
			}
		}
	}
	for name := range all {
		if !used[name] {
			t.Errorf("nothing imports %s", name)
		}
	}
}

// A module in a circle would run before what it imports.
func TestNoModuleIsImportedInACircle(t *testing.T) {
	all := loadModules(t)
	begun, ended := map[string]bool{}, map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		begun[name] = true
		for _, to := range importsOf(name, all[name]) {
			if begun[to] && !ended[to] {
				t.Errorf("%s imports %s, which imports it", name, to)
			} else if !begun[to] {
				follow(to)
			}
		}
		ended[name] = true
	}
	follow("main.js")
	follow("worker.js")
	if len(ended) < 50 {
		t.Errorf("only %d modules were followed", len(ended))
	}
}
