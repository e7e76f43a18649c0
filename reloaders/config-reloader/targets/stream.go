package targets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// The stream has one JSON object per line:
//
//	{"begin":{"version":"L-SEQ","full":true,"jobs":300}}       a whole list, or
//	{"begin":{"version":"L-SEQ","from":"L-SEQ0","jobs":2}}     changes of the list with that version
//	{"job":"serviceMonitor/demo/web/0","groups":[…]}           the list of one job
//	{"job":"podMonitor/demo/db/0","gone":true}
//	{"end":{"version":"L-SEQ"}}                                applies all lines since begin
//	{"ping":{"version":"L-SEQ"}}                               nothing has changed
//	{"ask":"inventory"}                                        asks for an inventory
//	{"watch":{"seq":3,"units":[…]}}                            asks for reports about some targets
//
// The last two are about the list that ended last.
// L is the number of the leader, which grows with each new one. Objects with other keys are ignored.

// header is the object of begin, end and ping.
type header struct {
	Version string `json:"version"`
	From    string `json:"from"`
	Full    bool   `json:"full"`
	Jobs    int    `json:"jobs"`
}

// message is one line. kind is begin, end, ping, job, or that of an ignored line.
type message struct {
	kind   string
	header header
	name   string // of the job
	job    *job   // nil if the job is removed
	gone   bool
	ask    string
	watch  *targetreport.Watch // nil if invalid
	wrong  error               // of the request with the watch
}

// maxName limits the name of a job, in bytes.
const maxName = 1 << 10

// reader reads messages. The groups of a job are compressed one by one, so that a long line needs no
// more memory than its largest group.
type reader struct {
	in     boundedReader
	dec    *json.Decoder
	limits Limits
	pack   *packer
	group  json.RawMessage
}

func newReader(in io.Reader, limits Limits, pack *packer) *reader {
	r := &reader{in: boundedReader{from: in, limits: limits}, limits: limits, pack: pack}
	r.dec = json.NewDecoder(&r.in)
	return r
}

// next returns the next message.
//
// Errors: io.EOF between two lines; a broken connection; [Protocol]; [TooLarge].
func (r *reader) next() (message, error) {
	r.in.line = 0
	m, err := r.read()
	if errors.Is(err, io.EOF) && m.kind != "" {
		err = io.ErrUnexpectedEOF
	}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, wrongType := errors.AsType[*json.UnmarshalTypeError](err)
	if syntax || wrongType {
		err = failf(Protocol, "a line of the list of targets is not of the protocol: %w", err)
	}
	return m, err
}

func (r *reader) read() (m message, err error) {
	if err := r.delimiter('{'); err != nil {
		return m, err
	}
	for r.more() {
		key, err := r.string()
		if err != nil {
			return m, err
		}
		if m.kind == "" {
			m.kind = key
		}
		if err := r.value(key, &m); err != nil {
			return m, err
		}
	}
	if m.kind == "" {
		m.kind = "{}"
	}
	if err := r.delimiter('}'); err != nil {
		return m, err
	}
	if m.kind == "job" && (m.job == nil) != m.gone {
		return m, failf(Protocol, "job %.200q needs groups, or must be gone", m.name)
	}
	return m, nil
}

// value reads the value of a key of a line.
func (r *reader) value(key string, m *message) (err error) {
	switch {
	case key == "begin" || key == "end" || key == "ping":
		return r.decode(&m.header)
	case key == "job":
		if m.name, err = r.string(); err == nil && len(m.name) > maxName {
			err = failf(TooLarge, "the list of targets has a job whose name is longer than %d bytes", maxName)
		}
	case m.kind == "job" && key == "groups":
		m.job, err = r.groups(m.name)
	case m.kind == "job" && key == "gone":
		err = r.decode(&m.gone)
	case key == "ask":
		err = r.decode(&m.ask)
	case key == "watch":
		err = r.watch(m)
	default:
		err = r.decode(&r.group)
	}
	return err
}

// watch reads a watch. An invalid one does not end the stream, because the list is more important.
func (r *reader) watch(m *message) error {
	if err := r.decode(&r.group); err != nil {
		return err
	}
	var w targetreport.Watch
	if w, m.wrong = targetreport.DecodeWatch(r.group); m.wrong == nil {
		m.watch = &w
	}
	return nil
}

// groups compresses an array of groups.
func (r *reader) groups(name string) (*job, error) {
	if err := r.delimiter('['); err != nil {
		return nil, err
	}
	r.pack.begin()
	for separator := "["; r.more(); separator = "," {
		if err := r.decode(&r.group); err != nil {
			return nil, err
		}
		if r.group[0] != '{' {
			return nil, failf(Protocol, "job %.200q has a target group that is not an object", name)
		}
		if int64(len(r.group)) > r.limits.Group {
			return nil, r.in.groupTooLong()
		}
		r.pack.write([]byte(separator), r.group)
	}
	return r.pack.end(), r.delimiter(']')
}

func (r *reader) more() bool { r.in.value = 0; return r.dec.More() }

func (r *reader) decode(v any) error { r.in.value = 0; return r.dec.Decode(v) }

func (r *reader) delimiter(want json.Delim) error {
	r.in.value = 0
	t, err := r.dec.Token()
	if err == nil && t != want {
		err = failf(Protocol, "a line of the list of targets has %.40q where %q is expected", fmt.Sprint(t), want.String())
	}
	return err
}

func (r *reader) string() (string, error) {
	r.in.value = 0
	t, err := r.dec.Token()
	s, is := t.(string)
	if err == nil && !is {
		err = failf(Protocol, "a line of the list of targets has %.40q where a string is expected", fmt.Sprint(t))
	}
	return s, err
}

// boundedReader limits the bytes that are read for one line and for one value of it, to within a buffer of
// the reader.
type boundedReader struct {
	from        io.Reader
	limits      Limits
	line, value int64 // read since they were reset
}

func (b *boundedReader) Read(p []byte) (int, error) {
	switch {
	case b.line > b.limits.Line:
		return 0, failf(TooLarge, "the list of targets has a line of more than %d bytes: it is refused and the last list stays", b.limits.Line)
	case b.value > b.limits.Group:
		return 0, b.groupTooLong()
	}
	n, err := b.from.Read(p)
	b.line += int64(n)
	b.value += int64(n)
	return n, err
}

func (b *boundedReader) groupTooLong() error {
	return failf(TooLarge, "the list of targets has a target group of more than %d bytes: it is refused and the last list stays", b.limits.Group)
}

// packer compresses the lists of jobs, one after the other.
type packer struct {
	out   bytes.Buffer
	gz    *gzip.Writer
	plain int64
}

// level is the compression level. The discovery service uses the same package and level to limit the size of a list.
// With others, a tenant could choose content that fits there but is many times as large here.
const level = 4

// keptBuffer is the largest buffer that is kept for the next job.
const keptBuffer = 256 << 10

func newPacker() *packer {
	p := &packer{}
	p.gz, _ = gzip.NewWriterLevel(&p.out, level) // never fails for a valid level
	return p
}

func (p *packer) begin() {
	if p.out.Cap() > keptBuffer {
		p.out = bytes.Buffer{}
	}
	p.out.Reset()
	p.gz.Reset(&p.out)
	p.plain = 0
}

// write adds parts. Writing to a buffer does not fail.
func (p *packer) write(parts ...[]byte) {
	for _, part := range parts {
		p.plain += int64(len(part))
		_, _ = p.gz.Write(part)
	}
}

// end closes the array, which it opens if write was never called.
func (p *packer) end() *job {
	if p.plain == 0 {
		p.write([]byte("["))
	}
	p.write([]byte("]"))
	_ = p.gz.Close()
	return &job{packed: bytes.Clone(p.out.Bytes()), plain: p.plain}
}

// receiver applies the messages of one stream to a list.
type receiver struct {
	list   *list
	limits Limits
	// oldest is the lowest leader number that is accepted.
	oldest uint64
	open   *update // between begin and end
}

// take processes a message. changed reports whether the list has changed, current whether the server has confirmed it.
func (r *receiver) take(m message, now time.Time) (changed, current bool, err error) {
	switch m.kind {
	case "begin":
		return false, false, r.begin(m.header)
	case "job":
		if r.open == nil {
			return false, false, failf(Protocol, "the list of targets has a job outside of an update")
		}
		return false, false, r.open.add(r.list, m.name, m.job, r.limits)
	case "end":
		u := r.open
		r.open = nil
		if u == nil || u.to.text != m.header.Version {
			return false, false, failf(Protocol, "an update of the list of targets ends that has not begun")
		}
		return true, true, r.list.apply(u, r.limits, now)
	case "ping":
		v, err := r.version(m.header.Version)
		if err != nil {
			return false, false, err
		}
		have, known := r.list.current()
		return false, known && r.open == nil && v == have, nil // else it is not about the list here
	}
	return false, false, nil
}

func (r *receiver) begin(h header) error {
	to, err := r.version(h.Version)
	if err != nil {
		return err
	}
	have, known := r.list.current()
	switch {
	case r.open != nil:
		return failf(Protocol, "an update of the list of targets begins before the last one ended")
	case !h.Full && (!known || h.From != have.text):
		return failf(Mismatch, "the server sent a change of list %.40q, but the list here is %q", h.From, have.text)
	case h.Jobs > r.limits.Jobs:
		return r.limits.check(h.Jobs, 0, 0)
	}
	r.open = &update{to: to, full: h.Full, jobs: map[string]*job{}}
	return nil
}

// version parses the version of a message.
//
// Errors: [OldLeader]; [Protocol].
func (r *receiver) version(text string) (Version, error) {
	v, err := parseVersion(text)
	if err == nil && v.leader < r.oldest {
		err = failf(OldLeader, "the server is leader %d, but the list is from leader %d: it is refused", v.leader, r.oldest)
	}
	return v, err
}
