// Package lazyregexp has regular expressions that a package declares and only some commands need: a program that does
// not use one does not compile it either, which would take memory and time before its main function.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled when it is used for the first time, by any goroutine.
type Regexp struct {
	pattern  string
	once     sync.Once
	compiled *regexp.Regexp
}

// New returns the regular expression of a pattern, in the syntax of package regexp. Its first use panics if the
// pattern is wrong; so pattern is a literal, which the tests compile.
func New(pattern string) *Regexp { return &Regexp{pattern: pattern} }

// Get returns the compiled expression.
func (r *Regexp) Get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.pattern) })
	return r.compiled
}

// MatchString reports whether s has a match.
func (r *Regexp) MatchString(s string) bool { return r.Get().MatchString(s) }

// FindStringSubmatch returns the first match in s and its groups.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.Get().FindStringSubmatch(s) }

// ReplaceAllString returns a copy of s in which the matches are replaced; $1 in the replacement is the first group.
func (r *Regexp) ReplaceAllString(s, replacement string) string {
	return r.Get().ReplaceAllString(s, replacement)
}

// Match reports whether b has a match.
func (r *Regexp) Match(b []byte) bool { return r.Get().Match(b) }

// ReplaceAllStringFunc returns s with the result of f for each match.
func (r *Regexp) ReplaceAllStringFunc(s string, f func(string) string) string {
	return r.Get().ReplaceAllStringFunc(s, f)
}
