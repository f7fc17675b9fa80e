package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// prose calls each for every sentence of the pages and the Go sources: of README, docs,
// help, errors, texts, doc comments, comments and tests.
func prose(files fs.FS, each func(class, file string, line int, sentence string)) error {
	return read(files, func(file, text string) {
		if strings.Contains(file, "testdata/") {
			return
		}
		p := reader{file: file, each: each}
		switch path.Ext(file) {
		case ".md":
			p.page(text)
		case ".go":
			p.source(text)
		}
	})
}

// reader takes the sentences of one file.
type reader struct {
	file string
	each func(class, file string, line int, sentence string)
}

var (
	codeSpan   = regexp.MustCompile("`[^`]*`")
	linkTarget = regexp.MustCompile(`\]\([^)\s]*\)`)
	sentenceOf = regexp.MustCompile(`(.*?[^.\d][.!?])["')\]*_]*(?:\s|$)`)
	listItem   = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+`)
	docTag     = regexp.MustCompile(`\bdoc:"([^"]*)"`)
	word       = regexp.MustCompile(`[A-Za-z]{2,}`)
)

// sentences splits a paragraph, its code replaced by a word.
func (r *reader) sentences(class string, line int, text string) {
	text = linkTarget.ReplaceAllString(codeSpan.ReplaceAllString(text, "code"), "]")
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end := sentenceOf.FindStringIndex(text)
		if end == nil {
			end = []int{0, len(text)}
		}
		r.each(class, r.file, line, strings.Trim(text[:end[1]], ` "'([*_`))
		text = text[end[1]:]
	}
}

// page reads Markdown: paragraphs, items and cells, without fenced parts.
func (r *reader) page(text string) {
	class, fenced, from := "docs", false, 0
	if r.file == "README.md" {
		class = "README"
	}
	var paragraph []string
	end := func() {
		r.sentences(class, from, strings.Join(paragraph, " "))
		paragraph = nil
	}
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
			end()
		case fenced:
		case trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "<!--"):
			end()
		case strings.HasPrefix(trimmed, "|"):
			end()
			for _, cell := range strings.Split(trimmed, "|") {
				r.sentences(class, i+1, cell)
			}
		default:
			if item := listItem.FindString(line); item != "" {
				end()
				trimmed = line[len(item):]
			}
			if paragraph == nil {
				from = i + 1
			}
			paragraph = append(paragraph, strings.TrimPrefix(trimmed, "> "))
		}
	}
	end()
}

// helpKeys are the fields of a command and of its flags that people read, and failing
// the functions that make errors.
var (
	helpKeys = map[string]bool{"Usage": true, "UsageText": true, "Description": true, "DefaultText": true}
	failing  = regexp.MustCompile(`^(Errorf|[rR]efusef?|refused|invalid|usage|failed|New|NewUsage|NewConflict|NewNoStart|NewInUse|panic|mistake|wrong|problem|\w*Refusal|\w*Error)$`)
)

// source reads the comments and the strings of a Go file.
func (r *reader) source(text string) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, r.file, text, parser.ParseComments)
	if err != nil || ast.IsGenerated(f) {
		return
	}
	test := strings.HasSuffix(r.file, "_test.go")
	of := func(class string) string {
		if test {
			return "tests"
		}
		return class
	}
	doc := map[*ast.CommentGroup]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.File:
			doc[n.Doc] = true
		case *ast.FuncDecl:
			doc[n.Doc] = true
		case *ast.GenDecl:
			doc[n.Doc] = true
		case *ast.TypeSpec:
			doc[n.Doc] = true
		case *ast.ValueSpec:
			doc[n.Doc] = true
		case *ast.Field:
			doc[n.Doc], doc[n.Comment] = true, true
		}
		return true
	})
	for _, group := range f.Comments {
		class := "comments"
		if doc[group] {
			class = "doc comments"
		}
		for _, part := range strings.Split(group.Text(), "\n\n") {
			if !strings.HasPrefix(part, "\t") {
				r.sentences(of(class), fset.Position(group.Pos()).Line, strings.ReplaceAll(part, "\n", " "))
			}
		}
	}
	r.strings(fset, f, "texts", of)
}

// strings reads the strings below a node, of the class that the nodes around give them.
func (r *reader) strings(fset *token.FileSet, root ast.Node, class string, of func(string) string) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == root {
			return true
		}
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			if failing.MatchString(called(n)) {
				for _, argument := range n.Args {
					r.strings(fset, &ast.ParenExpr{X: argument}, "errors", of)
				}
				return false
			}
		case *ast.KeyValueExpr:
			if key, is := n.Key.(*ast.Ident); is && helpKeys[key.Name] && strings.HasPrefix(r.file, "cmd/") {
				r.strings(fset, &ast.ParenExpr{X: n.Value}, "help", of)
				return false
			}
		case ast.Expr:
			if whole, is := joined(n); is {
				r.said(of(class), fset.Position(n.Pos()).Line, whole)
				return false
			}
		}
		return true
	})
}

// said reads a string, or the doc of a field's tag.
func (r *reader) said(class string, line int, whole string) {
	if tag := docTag.FindStringSubmatch(whole); tag != nil {
		whole = tag[1]
	}
	if len(word.FindAllString(whole, -1)) < 3 || strings.ContainsAny(whole, "{}<>;\t") {
		return
	}
	for _, part := range strings.Split(whole, "\n") {
		if !strings.HasPrefix(part, "Example: ") {
			r.sentences(class, line, part)
		}
	}
}

func called(n *ast.CallExpr) string {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// joined is the text of a string that is written in one part or in several.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, is := joined(e.X)
		right, also := joined(e.Y)
		return left + right, e.Op == token.ADD && is && also
	}
	return "", false
}
