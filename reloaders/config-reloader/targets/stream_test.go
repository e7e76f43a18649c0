package targets

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// bounds are limits that short inputs can exceed.
var bounds = Limits{Line: 4 << 10, Group: 1 << 10, Packed: 2 << 10, Plain: 6 << 10, Jobs: 5}

// feed applies a stream to a list until it ends. It returns nil if the stream ends between two lines, otherwise the
// error.
func feed(l *list, stream string, limits Limits) error {
	return feedWith(l, stream, limits, time.Time{})
}

// feedAt is like feed, at a time.
func feedAt(l *list, now time.Time, stream string) error { return feedWith(l, stream, bounds, now) }

func feedWith(l *list, stream string, limits Limits, now time.Time) error {
	in, to := newReader(strings.NewReader(stream), limits, newPacker()), receiver{list: l, limits: limits, oldest: l.version.leader}
	for {
		m, err := in.next()
		if err == nil {
			_, _, err = to.take(m, now)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// text returns a list as "version: job=groups …" in order of names; "none" without a list.
func text(t testing.TB, l *list, names ...string) string {
	t.Helper()
	v, known := l.current()
	if !known {
		return "none"
	}
	out := v.String() + ":"
	for _, name := range names {
		if j := l.job(name); j != nil {
			out += " " + name + "=" + unpack(t, j.packed)
			if got := int64(len(unpack(t, j.packed))); got != j.plain {
				t.Errorf("%s: %d bytes, recorded as %d", name, got, j.plain)
			}
		}
	}
	return out
}

func unpack(t testing.TB, packed []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	must(t, err)
	b, err := io.ReadAll(r)
	must(t, err)
	return string(b)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const start = `{"begin":{"version":"3-7","full":true,"jobs":2}}
{"job":"a","groups":[{"targets":["1:80"],"labels":{"x":"é\u00e9"}}, {"targets":[]}]}
{"job":"b","groups":[]}
{"end":{"version":"3-7"}}
`

const listAtStart = `3-7: a=[{"targets":["1:80"],"labels":{"x":"é\u00e9"}},{"targets":[]}] b=[]`

func group(bytes int) string {
	return fmt.Sprintf(`{"labels":{"x":%q}}`, strings.Repeat("x", bytes-len(`{"labels":{"x":""}}`)))
}

// Each stream follows start. An invalid one leaves the list unchanged.
func TestStreams(t *testing.T) {
	begin := func(version, from string) string {
		return fmt.Sprintf(`{"begin":{"version":%q,"from":%q,"jobs":1}}`+"\n", version, from)
	}
	full := func(version string) string { return fmt.Sprintf(`{"begin":{"version":%q,"full":true}}`+"\n", version) }
	end := func(version string) string { return fmt.Sprintf(`{"end":{"version":%q}}`+"\n", version) }
	job := func(name string, groups ...string) string {
		return fmt.Sprintf(`{"job":%q,"groups":[%s]}`+"\n", name, strings.Join(groups, ","))
	}
	for name, c := range map[string]struct {
		stream, want string // "" is listAtStart
		reason       Reason
	}{
		"ping":                     {stream: `{"ping":{"version":"3-7"}}` + "\n"},
		"change":                   {stream: begin("3-8", "3-7") + job("b", `{}`) + end("3-8"), want: `3-8: a=[{"targets":["1:80"],"labels":{"x":"é\u00e9"}},{"targets":[]}] b=[{}]`},
		"gone":                     {stream: begin("3-8", "3-7") + `{"job":"a","gone":true}` + end("3-8"), want: `3-8: b=[]`},
		"full replaces":            {stream: full("3-9") + job("c") + end("3-9"), want: `3-9: c=[]`},
		"full of nothing":          {stream: full("3-9") + end("3-9"), want: `3-9:`},
		"next leader":              {stream: full("4-1") + end("4-1"), want: `4-1:`},
		"same leader again":        {stream: full("3-1") + end("3-1"), want: `3-1:`},
		"unknown lines and fields": {stream: `{"hint":[1,{"a":[]}],"b":2}` + "\n{}\n" + `{"begin":{"version":"3-8","full":true,"x":[1]},"y":{}}` + `{"job":"c","z":1,"groups":[],"y":null}` + end("3-8"), want: `3-8: c=[]`},

		"not committed":             {stream: full("3-9") + job("c")},
		"cut within a line":         {stream: full("3-9") + `{"job":"c","gro`, reason: Unreachable},
		"cut within groups":         {stream: full("3-9") + `{"job":"c","groups":[{}`, reason: Unreachable},
		"cut before the end":        {stream: full("3-9") + job("c") + `{"end":{"version":"3-9"}`, reason: Unreachable},
		"older leader":              {stream: full("2-900") + end("2-900"), reason: OldLeader},
		"ping of an older leader":   {stream: `{"ping":{"version":"2-900"}}`, reason: OldLeader},
		"change of another list":    {stream: begin("3-9", "3-8") + end("3-9"), reason: Mismatch},
		"change of no list":         {stream: begin("3-9", "") + end("3-9"), reason: Mismatch},
		"another end":               {stream: full("3-9") + end("3-8"), reason: Protocol},
		"end without begin":         {stream: end("3-7"), reason: Protocol},
		"begin twice":               {stream: full("3-9") + full("3-9"), reason: Protocol},
		"job outside":               {stream: job("c"), reason: Protocol},
		"job twice":                 {stream: full("3-9") + job("c") + job("c"), reason: Protocol},
		"job without groups":        {stream: full("3-9") + `{"job":"c"}`, reason: Protocol},
		"job that is not gone":      {stream: full("3-9") + `{"job":"a","gone":false}`, reason: Protocol},
		"groups and gone":           {stream: full("3-9") + `{"job":"a","gone":true,"groups":[]}`, reason: Protocol},
		"groups null":               {stream: full("3-9") + `{"job":"a","groups":null}`, reason: Protocol},
		"group of another type":     {stream: full("3-9") + job("c", `["1:80"]`), reason: Protocol},
		"name of another type":      {stream: full("3-9") + `{"job":1}`, reason: Protocol},
		"version of another type":   {stream: `{"begin":{"version":7}}`, reason: Protocol},
		"version without dash":      {stream: full("39"), reason: Protocol},
		"version with zeros":        {stream: full(strings.Repeat("0", 100)+"3-9") + end(strings.Repeat("0", 100)+"3-9"), reason: Protocol},
		"version that is negative":  {stream: full("-3-9"), reason: Protocol},
		"no object":                 {stream: `[]`, reason: Protocol},
		"HTML":                      {stream: `<html>`, reason: Protocol},
		"binary":                    {stream: "\x00\xff\x1f\x8b", reason: Protocol},
		"long group":                {stream: full("3-9") + job("c", group(1<<10), group(1<<10+1)), reason: TooLarge},
		"very long group":           {stream: full("3-9") + job("c", group(32<<10)), reason: TooLarge},
		"long line":                 {stream: full("3-9") + job("c", group(900), group(900), group(900), group(900), group(900), group(900)), reason: TooLarge},
		"long value elsewhere":      {stream: `{"x":"` + strings.Repeat("x", 4<<10) + `"}`, reason: TooLarge},
		"spaces without end":        {stream: strings.Repeat(" ", 64<<10), reason: TooLarge},
		"long name":                 {stream: full("3-9") + job(strings.Repeat("c", 1025)), reason: TooLarge},
		"large list":                {stream: full("3-9") + job("c", group(900), group(900), group(900)) + job("d", group(900), group(900)) + job("e", group(900), group(900)), reason: TooLarge},
		"large with what is there":  {stream: begin("3-8", "3-7") + job("c") + job("d") + job("e") + job("f") + end("3-8"), reason: TooLarge},
		"announces too many":        {stream: `{"begin":{"version":"3-9","full":true,"jobs":6}}`, reason: TooLarge},
		"more jobs than it says":    {stream: full("3-9") + job("c") + job("d") + job("e") + job("f") + job("g") + job("h"), reason: TooLarge},
		"as many jobs as allowed":   {stream: full("3-9") + job("a") + job("b") + job("c") + job("d") + job("e") + end("3-9"), want: `3-9: a=[] b=[] c=[]`},
		"a line as long as allowed": {stream: full("3-9") + job("c", group(900), group(900), group(900), group(900)) + end("3-9"), want: `3-9: c=[` + strings.Join([]string{group(900), group(900), group(900), group(900)}, ",") + `]`},
	} {
		t.Run(name, func(t *testing.T) {
			l := &list{}
			must(t, feed(l, start, bounds))
			err := feed(l, c.stream, bounds)
			if c.want == "" {
				c.want = listAtStart
			}
			if got := text(t, l, "a", "b", "c"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if (err == nil) != (c.reason == "") || err != nil && reasonOf(err) != c.reason {
				t.Errorf("error %v (%s), want reason %q", err, reasonOf(err), c.reason)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("the error repeats %d bytes", len(err.Error()))
			}
		})
	}
}

// The compressed size limits content that hardly compresses.
func TestPackedSize(t *testing.T) {
	l := &list{}
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "%x", i*i*7919)
	}
	limits := bounds
	limits.Group, limits.Line, limits.Packed = 16<<10, 16<<10, 1<<10
	err := feed(l, `{"begin":{"version":"1-1","full":true}}{"job":"a","groups":[{"x":"`+b.String()+`"}]}{"end":{"version":"1-1"}}`, limits)
	if reasonOf(err) != TooLarge || !strings.Contains(err.Error(), "1024 bytes, compressed") {
		t.Errorf("error %v", err)
	}
	if got := text(t, l); got != "none" {
		t.Errorf("list %s", got)
	}
}

// A full list whose jobs are unchanged allocates no memory for them.
func TestUnchangedJobsAreShared(t *testing.T) {
	l := &list{}
	must(t, feed(l, start, bounds))
	before := l.job("a")
	must(t, feed(l, strings.ReplaceAll(start, "3-7", "3-8"), bounds))
	if v, _ := l.current(); v.String() != "3-8" || l.job("a") != before {
		t.Errorf("version %s, the same job: %v", v, l.job("a") == before)
	}
}

func TestLimits(t *testing.T) {
	for container, want := range map[int64]int64{0: 8 << 20, 20 << 20: 2 << 20, 50 << 20: 5 << 20, 80 << 20: 8 << 20, 1 << 30: 8 << 20} {
		if got := LimitsFor(container).Packed; got != want {
			t.Errorf("%d: %d bytes, want %d", container, got, want)
		}
	}
}

// For any input, the list is one that was committed.
func FuzzStream(f *testing.F) {
	f.Add(start)
	f.Add(`{"begin":{"version":"3-8","from":"3-7"}}{"job":"a","gone":true}{"end":{"version":"3-8"}}`)
	f.Add(`{"begin":{"version":"3-8","full":true}}{"job":"a","groups":[{},{"targets":["a"]}]}`)
	f.Fuzz(func(t *testing.T, stream string) {
		l := &list{}
		must(t, feed(l, start, bounds))
		_ = feed(l, stream, bounds)
		v, _ := l.current()
		if v.text != "3-7" && !strings.Contains(stream, "end") && !strings.Contains(stream, `\u`) {
			t.Errorf("version %s without an end", v)
		}
		if v.leader < 3 {
			t.Errorf("an older leader: %s", v)
		}
		_, jobs := l.snapshot()
		var packed, plain int64
		for _, j := range jobs {
			unpack(t, j.packed)
			packed, plain = packed+int64(len(j.packed)), plain+j.plain
		}
		if packed != l.packed || plain != l.plain || bounds.check(len(jobs), packed, plain) != nil {
			t.Errorf("%d jobs, %d and %d bytes, recorded as %d and %d", len(jobs), packed, plain, l.packed, l.plain)
		}
	})
}

// A ping about another list does not confirm the one here, so that its age shows.
func TestPingOfAnotherList(t *testing.T) {
	l := &list{}
	must(t, feed(l, start, bounds))
	r := receiver{list: l, limits: bounds}
	for version, want := range map[string]bool{"3-7": true, "3-6": false, "3-8": false, "4-7": false} {
		_, current, err := r.take(message{kind: "ping", header: header{Version: version}}, time.Now())
		if err != nil || current != want {
			t.Errorf("%s: current = %t, %v", version, current, err)
		}
	}
}
