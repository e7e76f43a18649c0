package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// unquoted matches an unquoted value with {{, which YAML reads as a mapping.
var unquoted = lazyregexp.New(`(?m)^\s*(- )?[\w.-]+:\s*\{\{`)

// secondKey matches the YAML error for the first duplicate key of a second manifest.
var secondKey = lazyregexp.New(`(line \d+: )key "(?:apiVersion|kind)" already set`)

// secondOfKey matches the YAML error for a duplicate key.
var secondOfKey = lazyregexp.New(`(line \d+: )key (".*") already set in map`)

// maxSecondKeys is the maximum number of duplicate keys of a document that are reported.
const maxSecondKeys = 20

const badSeparator = "two manifests are separated by --- with nothing else in the line; the file is not read from here on"

// almostSeparator matches lines that are meant to separate manifests.
var almostSeparator = lazyregexp.New(`^(\s+---|\s*(--|-{4,}|[–—]+-?))\s*$`)

// nearSeparator returns the line of a misspelled separator where the parser stopped, or just before; 0
// if there is none.
func nearSeparator(doc []byte, err error) int {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	at, _ := strconv.Atoi(m[1]) // valid by the regular expression, 0 if out of range
	lines := bytes.Split(doc, []byte("\n"))
	for line := at; line >= max(at-1, 1); line-- {
		if line <= len(lines) && almostSeparator.Match(lines[line-1]) {
			return line
		}
	}
	return 0
}

// brokenSeparator returns the line of a separator with something after it, which ends the reading of a
// file; 0 if there is none. The first line of the text is line.
func brokenSeparator(text []byte, line int, err error) int {
	_, after, is := strings.Cut(err.Error(), "invalid Yaml document separator: ")
	for at := range bytes.SplitSeq(text, []byte("\n")) {
		if rest, dashes := bytes.CutPrefix(at, []byte("---")); is && dashes && string(bytes.TrimSpace(rest)) == after {
			return line
		}
		line++
	}
	return 0
}

// indented matches the blanks and tabs before the content of a line.
var indented = lazyregexp.New(`^[ \t]*`)

// tabNear returns the line with a tab in its indentation where the parser stopped, or next to it; 0 if there is none.
func tabNear(doc []byte, err error) int {
	at := lineOf(err)
	lines := bytes.Split(doc, []byte("\n"))
	for _, line := range []int{at, at - 1, at + 1} {
		if line >= 1 && line <= len(lines) && len(content(lines[line-1])) > 0 && bytes.Contains(indented.Get().Find(lines[line-1]), []byte("\t")) {
			return line
		}
	}
	return 0
}

// lineOf returns the line in an error of the YAML library, which leaves out line 1.
func lineOf(err error) int {
	at := 1
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		at, _ = strconv.Atoi(m[1]) // valid by the regular expression, 0 if out of range
	}
	return at
}

// beginsFolded matches a line with the key of a value that begins in the same line as the > or | of a value in the next ones.
var beginsFolded = lazyregexp.New(`^\s*(?:- +)*([\w./-]{1,63}):\s+([>|])[-+0-9]*\s+[^#\s]`)

// foldedText returns the error of a value that begins behind > or |, such as a comparison; nil for another fault.
func foldedText(doc []byte, err error) error {
	if !strings.Contains(err.Error(), "did not find expected comment or line break") {
		return nil
	}
	at := lineOf(err)
	lines := bytes.Split(doc, []byte("\n"))
	for line := at; line >= max(at-1, 1); line-- {
		if line > len(lines) {
			continue
		}
		if m := beginsFolded.FindStringSubmatch(string(lines[line-1])); m != nil {
			return fmt.Errorf("yaml: line %d: the value of %s begins with %s, after which it has to begin in the next line, indented; write it there, or put the whole value in quotes", line, m[1], m[2])
		}
	}
	return nil
}

// brokenYAML explains the most common mistakes in a document that cannot be parsed.
func brokenYAML(doc []byte, err error) error {
	err = placed(doc, err)
	switch {
	case template.Match(doc):
		return errors.New("this is a template of a Helm chart, not a manifest: check the output of helm template instead")
	case unquoted.Match(doc):
		at := unquoted.Get().FindIndex(doc)[1]
		return fmt.Errorf("yaml: line %d: a value that begins with {{ must be in quotes", 1+bytes.Count(doc[:at], []byte("\n")))
	case tabNear(doc, err) > 0:
		return fmt.Errorf("yaml: line %d: there is a tab in the indentation; YAML is indented with blanks, not with tabs", tabNear(doc, err))
	case bytes.Contains(doc, []byte("\n\t")):
		return fmt.Errorf("%w; YAML is indented with blanks, not with tabs", err)
	case strings.Contains(err.Error(), `key "apiVersion" already set`), strings.Contains(err.Error(), `key "kind" already set`):
		if m := secondKey.FindStringSubmatch(err.Error()); m != nil {
			return fmt.Errorf("yaml: %sapiVersion or kind is there twice; put a line --- between two manifests", m[1])
		}
	case secondOfKey.MatchString(err.Error()):
		var all []error
		for _, m := range secondOfKey.Get().FindAllStringSubmatch(err.Error(), maxSecondKeys) {
			all = append(all, fmt.Errorf("yaml: %s%s is there twice in one object: remove one of them", m[1], m[2]))
		}
		return errors.Join(all...)
	case nearSeparator(doc, err) > 0:
		return fmt.Errorf("yaml: line %d: two manifests are separated by ---, at the beginning of the line and with nothing else in it", nearSeparator(doc, err))
	case foldedText(doc, err) != nil:
		return foldedText(doc, err)
	case strings.Contains(err.Error(), "found unknown escape character"):
		return fmt.Errorf("%w: \\ begins an escape in double quotes; write \\\\, or put the value in single quotes", err)
	case withoutColon(doc, err) != nil:
		return withoutColon(doc, err)
	case unquotedValue(doc, err) != nil:
		return unquotedValue(doc, err)
	case strings.Contains(err.Error(), "did not find expected key"), strings.Contains(err.Error(), "did not find expected '-' indicator"), strings.Contains(err.Error(), "mapping values are not allowed"):
		return fmt.Errorf("%w; check the indentation here and above: what belongs together begins in the same column", err)
	}
	return err
}

var (
	// tightColon matches a line with a key and a value behind its colon without a blank.
	tightColon = lazyregexp.New(`^\s*(?:- +)*([a-zA-Z][\w./-]{0,62}):[^\s:/]`)
	// noColon matches a line with a key and a value without a colon between them.
	noColon = lazyregexp.New(`^\s*(?:- +)*([a-zA-Z][\w-]{0,62})[ =]+[^\s:=]+$`)
)

// withoutColon returns the error of a line with a key that no colon with a blank ends, which YAML joins with the next line;
// nil for another fault.
func withoutColon(doc []byte, err error) error {
	missing := strings.Contains(err.Error(), "could not find expected ':'")
	if !missing && !strings.Contains(err.Error(), "mapping values are not allowed") {
		return nil
	}
	at := lineOf(err)
	lines := bytes.Split(doc, []byte("\n"))
	for line := min(at, len(lines)); line >= max(at-2, 1); line-- {
		text := content(lines[line-1])
		if m := tightColon.Get().FindSubmatch(text); m != nil {
			return fmt.Errorf("yaml: line %d: there is no blank after the colon of %s, so this is a string and no field: write %s: and then a blank", line, m[1], m[1])
		}
		if m := noColon.Get().FindSubmatch(text); m != nil && missing {
			return fmt.Errorf("yaml: line %d: there is no colon after %s: write %s: and then a blank", line, m[1], m[1])
		}
	}
	return nil
}

// valueOf matches a line with the key of a value that begins with a character that has a meaning in YAML.
var valueOf = lazyregexp.New("^\\s*(?:- +)*([\\w./-]{1,63}):\\s+([{\\[\"'%@`!&*])(.*)$")

// colonIn matches a line with the key of a value in which another colon has a blank after it.
var colonIn = lazyregexp.New("^\\s*(?:- +)*([\\w./-]{1,63}):\\s+[^\\s{\\[\"'|>&*!].*:(?:\\s|$)")

// misbegun matches the YAML errors about what such a value begins.
var misbegun = lazyregexp.New(`did not find expected (key$|'-' indicator|comment or line break|alphabetic or numeric character|whitespace)|cannot start any token|mapping values are not allowed`)

// unquotedValue returns the error of a line with an unquoted value that begins like a map, list or quoted text, such as
// {job="web"} == 0; nil for another fault.
func unquotedValue(doc []byte, err error) error {
	if !misbegun.MatchString(err.Error()) {
		return nil
	}
	at := lineOf(err)
	lines := bytes.Split(doc, []byte("\n"))
	if at < 1 || at > len(lines) {
		return nil
	}
	line := content(lines[at-1])
	if m := colonIn.Get().FindSubmatch(line); m != nil && strings.Contains(err.Error(), "mapping values are not allowed") {
		return fmt.Errorf("yaml: line %d: the value of %s has a colon with a blank after it, which ends a key in YAML; put the whole value in quotes", at, m[1])
	}
	m := valueOf.Get().FindSubmatch(line)
	if m == nil {
		return nil
	}
	key, begin, rest := m[1], string(m[2]), string(m[3])
	remedy := fmt.Sprintf("put the whole value in single quotes, or write %s: | and the value in the next line, indented", key)
	switch {
	case begin != `"` && begin != "'":
		return fmt.Errorf("yaml: line %d: the value of %s begins with %s, which has a meaning in YAML; %s", at, key, begin, remedy)
	case strings.Contains(rest, begin) && !strings.HasSuffix(rest[strings.Index(rest, begin):], begin+begin):
		if begin == "'" {
			remedy = fmt.Sprintf("write '' for a quote in it, or write %s: | and the value in the next line, indented", key)
		}
		return fmt.Errorf("yaml: line %d: the value of %s ends at its second %s, and more follows; %s", at, key, begin, remedy)
	}
	return nil
}

// maxPlaced is the maximum length in bytes of a document that is parsed again to find a fault.
const maxPlaced = 1 << 20

// parserError matches an error whose line the YAML library counts from 0. Others count from 1.
var parserError = lazyregexp.New(`^yaml: line \d+(: did not find expected (?:node content|key|'-' indicator|<document start>|(',' or '[\]}]')))$`)

// noAnchor matches the error about an alias without an anchor, which has no line.
var noAnchor = lazyregexp.New(`^yaml: unknown anchor '(.+)' referenced$`)

// unended matches the error about a quoted value without an end, which has the last line of the document.
var unended = lazyregexp.New(`^yaml: line \d+: found unexpected end of stream$`)

// placed returns the error with the line of the fault instead of that where the parser stopped.
func placed(doc []byte, err error) error {
	lines := bytes.Split(doc, []byte("\n"))
	switch m := parserError.FindStringSubmatch(err.Error()); {
	case noAnchor.MatchString(err.Error()):
		name := noAnchor.FindStringSubmatch(err.Error())[1]
		for i, line := range lines {
			if bytes.Contains(content(line), []byte("*"+name)) {
				return fmt.Errorf("yaml: line %d: *%s refers to an anchor &%s, and there is none before it in this document", i+1, name, name)
			}
		}
	case m != nil:
		line := min(manifest.SyntaxLine(doc, err), len(lines))
		for ; line > 1 && len(content(lines[line-1])) == 0; line-- {
		}
		if before, is := separatorMissing(lines, line); m[2] != "" && is {
			line = before
		}
		return fmt.Errorf("yaml: line %d%s", line, m[1])
	case unended.MatchString(err.Error()):
		if line := quoteOpened(lines); line > 0 {
			return fmt.Errorf("yaml: line %d: a quote has no end", line)
		}
	}
	return err
}

// separatorMissing returns the line before the given one that has content, and whether a comma or
// bracket is missing at its end: with a comma the given line can be parsed. Lines count from 1.
func separatorMissing(lines [][]byte, line int) (before int, is bool) {
	if line > len(lines) {
		return 0, false
	}
	for before = line - 1; before > 0 && len(content(lines[before-1])) == 0; before-- {
	}
	if before == 0 {
		return 0, false
	}
	var text bytes.Buffer
	for _, l := range lines[:before-1] {
		text.Write(append(bytes.Clone(l), '\n'))
	}
	text.Write(content(lines[before-1]))
	text.WriteString(",\n")
	text.Write(lines[line-1])
	if text.Len() > maxPlaced {
		return 0, false
	}
	text.WriteString(closing(text.Bytes()))
	_, err := yaml.YAMLToJSON(text.Bytes())
	return before, err == nil
}

// content returns a line without a comment and trailing blanks.
func content(line []byte) []byte {
	if i := bytes.Index(line, []byte(" #")); i >= 0 {
		line = line[:i]
	}
	if trimmed := bytes.TrimSpace(line); bytes.HasPrefix(trimmed, []byte("#")) {
		return nil
	}
	return bytes.TrimRight(line, " \t")
}

// closing returns the brackets that are missing at the end of a text.
func closing(text []byte) string {
	var open []byte
	var quote byte
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			if i == 0 || bytes.IndexByte([]byte(" \n[{,:"), text[i-1]) >= 0 { // otherwise it is part of a word
				quote = c
			}
		case c == '[':
			open = append(open, ']')
		case c == '{':
			open = append(open, '}')
		case len(open) > 0 && c == open[len(open)-1]:
			open = open[:len(open)-1]
		}
	}
	for i, k := 0, len(open)-1; i < k; i, k = i+1, k-1 {
		open[i], open[k] = open[k], open[i]
	}
	return string(open)
}

// mostLines is the maximum number of lines that are searched for an opening quote.
const mostLines = 50

// quoteOpened returns the line of a quote without an end: all texts up to a line from there on end in
// it. 0 if it is not found.
func quoteOpened(lines [][]byte) int {
	for n := len(lines); n > 0 && n > len(lines)-mostLines; n-- {
		text := bytes.Join(lines[:n-1], []byte("\n"))
		if len(text) > maxPlaced/16 {
			return 0
		}
		if _, err := yaml.YAMLToJSON(append(text, '\n')); err == nil || !strings.HasSuffix(err.Error(), "found unexpected end of stream") {
			return n
		}
	}
	return 0
}
