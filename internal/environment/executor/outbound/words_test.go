package outbound

import (
	"strings"
	"testing"
)

// What a refusal says is found in the shapes that real servers answer with, and is one short line.
func TestWordsOfARefusal(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"Unsupported value: 'temperature' does not support 0.7","type":"invalid_request_error"}}`:// OpenAI
		"Unsupported value: 'temperature' does not support 0.7",
		`{"error":"model 'x' not found"}`:                                                             "model 'x' not found", // ollama
		`{"object":"error","message":"too long","code":4}`:                                            "too long",            // vLLM before 0.10
		`{"detail":"Not Found"}`:                                                                      "Not Found",           // FastAPI
		`{"detail":[{"loc":["body"],"msg":"x"}]}`:                                                     `{"detail":[{"loc":["body"],"msg":"x"}]}`,
		"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>":                             "502 Bad Gateway",         // nginx
		"<!DOCTYPE HTML PUBLIC \"…\">\n<html><head>\n<title>503 Service Unavailable</title>\n</head>": "503 Service Unavailable", // Apache
		"<?xml version='1.0'?>\n<Error><Code>A</Code><Message>a &lt; b</Message></Error>":             "a < b",                   // S3
		"<html>\r\n<head>":                "<html>",
		"\n\n a\x1b[2Jb\u202ec \n second": "a [2Jb c",
		"\xff\xfe":                        "?",
		"":                                "",
		" \n ":                            "",
		strings.Repeat("é", 150):          strings.Repeat("é", 100) + "…",
		"x" + strings.Repeat("é", 150):    "x" + strings.Repeat("é", 99) + "…",
		`{"error":{"message":"` + strings.Repeat("a", readWords): `{"error":{"message":"` + strings.Repeat("a", 179) + "…",
	} {
		if got := Words([]byte(body)); got != want {
			t.Errorf("%.60q: %q, want %q", body, got, want)
		}
	}
	if got := Say("the status 500", nil); got != "the status 500" {
		t.Error(got)
	}
}
