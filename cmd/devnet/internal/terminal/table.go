package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// AlignColumns puts rows into columns, without spaces at the ends of lines.
func AlignColumns(rows [][]string) []string {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush()
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// PrintColumns prints rows in columns, without spaces at the ends of lines.
func PrintColumns(w io.Writer, rows [][]string) {
	for _, line := range AlignColumns(rows) {
		fmt.Fprintln(w, line)
	}
}

// CountWhere is how many of a list are as asked.
func CountWhere[T any](list []T, is func(*T) bool) (n int) {
	for i := range list {
		if is(&list[i]) {
			n++
		}
	}
	return n
}

// PrintTable prints rows in columns under a heading, or empty without rows.
func PrintTable(w io.Writer, empty string, heading string, rows [][]string) {
	if len(rows) == 0 {
		fmt.Fprintln(w, empty)
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.ReplaceAll(heading, " ", "\t"))
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush()
}

// RowsOf makes a row of each entry.
func RowsOf[T any](list []T, row func(*T) []string) (rows [][]string) {
	for i := range list {
		rows = append(rows, row(&list[i]))
	}
	return rows
}

// PrintFacts prints names and values in two columns; empty values are left out.
func PrintFacts(w io.Writer, pairs ...string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", pairs[i], pairs[i+1])
		}
	}
	_ = t.Flush()
}
