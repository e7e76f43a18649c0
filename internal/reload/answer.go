package reload

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

const (
	// excerptSize limits the part of a response body in an error, in bytes.
	excerptSize = 1 << 10
	// drainSize limits the part of a response body that is read, in bytes.
	drainSize = 64 << 10
	// headerSize limits the status line and the headers of a response, which errors quote, in bytes. Without it, a server may
	// send ten megabytes of them with every attempt.
	headerSize = 64 << 10
)

// answer is the response to a request, without secrets.
type answer struct {
	status   int
	text     string // "500 Internal Server Error"
	location string // redacted target of a redirect
	excerpt  string // start of the body, on one line
	err      error
}

// read converts the results of http.Client.Do.
func read(res *http.Response, err error) answer {
	if err != nil {
		return answer{err: withoutURL(err)}
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode, text: res.Status}
	body, _ := io.ReadAll(io.LimitReader(res.Body, excerptSize)) // a partial reason is better than none
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, drainSize))
	a.excerpt = oneLine(string(body))
	if to := res.Header.Get("Location"); to != "" {
		a.location = "an unreadable place"
		if u, err := url.Parse(to); err == nil {
			a.location = Redact(u)
		}
	}
	return a
}

// describe returns why the response is not a success, without its body.
func (a answer) describe() string {
	s := "answered " + a.text
	switch {
	case a.status/100 == 3 && a.location != "":
		s += ", a redirect to " + a.location + " that is not followed"
	case a.status == http.StatusForbidden:
		s += " (is the lifecycle API enabled?)"
	case a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed:
		s += " (is the route prefix part of the URL?)"
	}
	return s
}

func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
