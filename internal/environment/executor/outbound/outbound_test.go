package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func fence(t testing.TB, places []string, addresses ...string) *Fence {
	t.Helper()
	f, err := NewFence(places, parsePrefixes(addresses...))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWhereAJobMayGo(t *testing.T) {
	f := fence(t, []string{"api.example.org", "*.deep.example.org", "example.net:8080", "192.0.2.7",
		"[2001:db8::1]:8443", "Upper.example.org"})
	for _, good := range []string{
		"http://api.example.org", "https://api.example.org/x?y#z", "https://API.Example.ORG:443/",
		"http://api.example.org:80", "http://a.deep.example.org",
		"https://a.b.deep.example.org", "http://example.net:8080/x", "http://192.0.2.7/",
		"https://[2001:db8::1]:8443/", "https://upper.example.org",
	} {
		if _, err := f.Judge(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, c := range []struct {
		url       string
		forbidden bool // by this runner, and not wrong by itself
	}{
		{"http://other.example.org", true}, {"http://deep.example.org", true}, {"http://xdeep.example.org", true},
		{"http://api.example.org:8080", true},
		{"http://example.net", true}, {"https://api.example.org:80", true}, {"http://api.example.org.evil.test", true},
		{"http://192.0.2.8", true},
		{"http://[2001:db8::1]/", true}, {"http://localhost", true}, {"http://[::ffff:127.0.0.1]/", true}, {"http://[fd00:ec2::254]/", true},
		{"http://api.example.org@evil.test", false}, {"http://user:pass@api.example.org", false},
		{"ftp://api.example.org", false}, {"file:///etc/passwd", false},
		{"gopher://api.example.org", false}, {"//api.example.org", false}, {"api.example.org", false},
		{"http:api.example.org", false}, {"http://", false},
		{"http://api.example.org:0", false}, {"http://api.example.org:99999", false}, {"http://api.example.org:http", false}, {"", false},
		{"http://api.example.org\\@evil.test", false}, {"http://evil.test\t.example.org", false}, {"http://api.example.org/\r\nX: y", false},
		{"http://api.example.org\x00", false}, {"http://api.exämple.org", false}, {"http://127.1", false},
		{"http://0x7f.0.0.1", false}, {"http://2130706433", false},
		{"http://0177.0.0.1", false}, {"http://[fe80::1%25eth0]/", false}, {"http://[127.0.0.1]/", false}, {"http://api..example.org", false},
		{"http://api.example.org./", false}, {"http://%61pi.example.org:80%20", false},
		{"http://" + strings.Repeat("a", MaxURL), false}, {"http://*", false},
	} {
		_, err := f.Judge(c.url)
		if forbidden := (*ForbiddenError)(nil); err == nil || errors.As(err, &forbidden) != c.forbidden {
			t.Errorf("%.60q: %v", c.url, err)
		}
	}
	any := fence(t, []string{"*"})
	if _, err := any.Judge("http://a.test"); err != nil {
		t.Error(err)
	}
	for _, address := range []string{"http://192.0.2.7", "http://[2001:db8::1]", "http://a.test:8080"} {
		if _, err := any.Judge(address); err == nil {
			t.Errorf("any name is no address and no other port: %s", address)
		}
	}
}

func TestWhatIsNoPlace(t *testing.T) {
	for _, text := range []string{"", "http://example.org", "example.org/", "a b", "*.", "**.example.org", "a:0",
		"a:70000", "a:b", "[::1", "[zz]", "127.1", "*.1"} {
		if _, err := NewFence([]string{text}, nil); err == nil {
			t.Errorf("%q is a place", text)
		}
	}
}

func TestWhichAddressesArePublic(t *testing.T) {
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:9.9.9.9"} {
		if !isPublic(netip.MustParseAddr(text).Unmap()) {
			t.Errorf("%s is public", text)
		}
	}
	for _, text := range []string{
		"127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "192.0.0.192",
		"0.0.0.0", "255.255.255.255", "224.0.0.1",
		"198.18.0.1", "168.63.129.16", "::1", "::", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "ff02::1",
		"::ffff:127.0.0.1", "::ffff:169.254.169.254",
		"64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:1::", "2001:db8::1", "::7f00:1",
	} {
		if isPublic(netip.MustParseAddr(text).Unmap()) {
			t.Errorf("%s is not public", text)
		}
	}
}

// get asks through a fence and returns the body.
func get(ctx context.Context, f *Fence, to string, headers ...string) (string, error) {
	u, err := f.Judge(to)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	request.Header.Set("Accept-Encoding", "identity")
	answer, err := f.Client().Do(request)
	if err != nil {
		return "", err
	}
	body, err := ReadBody(answer, 1000)
	return string(body), err
}

func serve(t *testing.T, answer http.HandlerFunc) *url.URL {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A name is judged by the address it turned out to have, at dial: so whatever it
// answers the second time, and in whatever form, meets the same judgement.
func TestANameThatLeadsInsideIsRefusedAtDial(t *testing.T) {
	asked := false
	u := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	for _, host := range []string{"127.0.0.1", "localhost"} {
		place := host + ":" + u.Port()
		_, err := get(t.Context(), fence(t, []string{place}), "http://"+place)
		if forbidden := (*ForbiddenError)(nil); !errors.As(err, &forbidden) || asked {
			t.Errorf("%s: %v, asked %t", place, err, asked)
		}
	}
	place := "127.0.0.1:" + u.Port()
	if _, err := get(t.Context(), fence(t, []string{place}, "127.0.0.0/8"), "http://"+place); err != nil || !asked {
		t.Errorf("what is allowed: %v", err)
	}
	if _, err := get(t.Context(), fence(t, []string{place}, "10.0.0.0/8"), "http://"+place); err == nil {
		t.Error("another range was allowed, and this was dialled")
	}
}

func TestRedirectsStayInside(t *testing.T) {
	outside := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "outside with ", r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.Header.Get("Referer"), r.Header.Get("Cookie"))
	})
	inside := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/end":
			fmt.Fprint(w, "end with ", r.Header.Get("X-Key"), r.Header.Get("Referer"))
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
		}
	})
	f := fence(t, []string{inside.Host}, "127.0.0.0/8")
	both := fence(t, []string{inside.Host, outside.Host}, "127.0.0.0/8")
	secret := []string{"X-Key", "secret", "Authorization", "secret", "Cookie", "a=secret"}
	to := func(target string) string { return inside.String() + "/?to=" + url.QueryEscape(target) }
	if got, err := get(t.Context(), f, to("/end"), secret...); err != nil || got != "end with secret" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := get(t.Context(), both, to(outside.String()), secret...); err != nil || got != "outside with " {
		t.Errorf("a secret went along: %q, %v", got, err)
	}
	for _, target := range []string{
		outside.String(), "http://169.254.169.254/latest/meta-data/", "file:///etc/passwd",
		"http://user@" + inside.Host + "/end", inside.String() + "/loop",
		"//" + outside.Host, "http://localhost:" + outside.Port(), "http://[::1]:" + inside.Port(), "/" + strings.Repeat("a", MaxURL),
	} {
		if got, err := get(t.Context(), f, to(target)); err == nil {
			t.Errorf("%.60s led to %q", target, got)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/just":
			w.Write(make([]byte, 1000))
		case "/more":
			w.Write(make([]byte, 1001))
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write([]byte("a bomb"))
		case "/headers":
			w.Header().Set("X-Much", strings.Repeat("a", maxHeader))
		case "/liar":
			w.Header().Set("Content-Length", "10")
			w.Write([]byte("short"))
		}
	})
	f := fence(t, []string{u.Host}, "127.0.0.0/8")
	if got, err := get(t.Context(), f, u.String()+"/just"); err != nil || len(got) != 1000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for path, want := range map[string]string{
		"/more": "more than 1000 bytes", "/endless": "more than 1000 bytes", "/packed": "packed", "/headers": "header",
		"/liar": "broke off after 5 bytes",
	} {
		if _, err := get(t.Context(), f, u.String()+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAServerThatNeverAnswersIsLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	u := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel() // its asker waits by now
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	if _, err := get(ctx, fence(t, []string{u.Host}, "127.0.0.0/8"), u.String()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestNoProxyOfTheEnvironmentIsUsed(t *testing.T) {
	asked := false
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	t.Setenv("HTTP_PROXY", proxy.String())
	t.Setenv("http_proxy", proxy.String())
	if _, err := get(t.Context(), fence(t, []string{"a.invalid"}), "http://a.invalid"); err == nil || asked {
		t.Errorf("%v, asked %t", err, asked)
	}
}

// Every accepted URL is a plain URL of an allowed place.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{"http://a.test", "http://a.test@b.test", "http://[::1]:80", "HTTP://A.TEST:80/%0d",
		"http://a.test:080", "http://a.test:#@b"} {
		f.Add(seed)
	}
	inside := fence(f, []string{"a.test", "*.b.test:81"})
	f.Fuzz(func(t *testing.T, text string) {
		u, err := inside.Judge(text)
		if err != nil {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil || again.User != nil || again.Scheme != "http" && again.Scheme != "https" {
			t.Fatalf("%q became %v, %v", text, again, err)
		}
		host := strings.ToLower(again.Hostname())
		if host != "a.test" && !strings.HasSuffix(host, ".b.test") {
			t.Fatalf("%q leads to %q", text, host)
		}
	})
}

func TestARedirectTakesNeitherSecretNorBodyElsewhere(t *testing.T) {
	check := fence(t, []string{"a.test", "b.test"}).Client().CheckRedirect
	request := func(to string, body io.Reader) *http.Request {
		r, err := http.NewRequest(http.MethodPost, to, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Key", "secret")
		return r
	}
	for _, c := range []struct {
		from, to string
		body     string
		goes     bool
		secret   string
	}{
		{"https://a.test/1", "https://a.test/2", "body", true, "secret"},
		{"http://a.test/1", "https://a.test/2", "body", true, "secret"},
		{"https://a.test/1", "http://a.test/2", "", true, ""},
		{"https://a.test/1", "http://a.test/2", "body", false, ""},
		{"https://a.test/1", "https://b.test/2", "", true, ""},
		{"https://a.test/1", "https://b.test/2", "body", false, ""},
	} {
		next := request(c.to, strings.NewReader(c.body))
		if err := check(next, []*http.Request{request(c.from, nil)}); (err == nil) != c.goes || next.Header.Get("X-Key") != c.secret {
			t.Errorf("%+v: %v with %q", c, err, next.Header.Get("X-Key"))
		}
	}
}

// Paid models and chains have the customer's key in the path.
func TestAnErrorNamesTheHostOfAnOwnersPlaceAndNotItsPath(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	u, err := url.Parse(gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	to := gone.URL + "/v3/secret?key=secret"
	if _, _, err := PostJSON(t.Context(), Client(), to, nil, nil, 1); err == nil || strings.Contains(err.Error(), "secret") ||
		!strings.Contains(err.Error(), u.Host) {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := PostJSON(ended, Client(), to, nil, nil, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
