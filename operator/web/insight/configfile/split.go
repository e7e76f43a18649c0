package configfile

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/s2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// Split splits the output of write into sections: top-level keys and the items of scrape_configs.
//
// Errors: those of write.
func (d *File) Split(write func(io.Writer) error, jobs map[string]catalog.Ref) error {
	var file bytes.Buffer
	compressed, c := s2.NewWriter(&file, s2.WriterConcurrency(1)), &cutter{jobs: jobs}
	if err := errors.Join(write(io.MultiWriter(c, compressed)), compressed.Close()); err != nil {
		return apierrors.NewInternalError(err)
	}
	c.end()
	if c.at == 0 {
		d.Unread = append(d.Unread, NoConfig)
	}
	d.Compressed, d.Sections = bytes.Clone(file.Bytes()), append(d.Sections, c.sections...)
	return nil
}

// lineBytes is the part of a line that is kept. Job names are shorter.
const lineBytes = 4 << 10

// cutter is an [io.Writer] that finds the boundaries of sections. It buffers only the beginning of
// the current line.
type cutter struct {
	jobs     map[string]catalog.Ref
	sections []Section

	key  string  // of the current section
	now  Section // the current section
	bare bool    // it has only the line with its key

	line []byte // beginning of the current line
	size int    // of the begun line
	at   int    // offset of the line
}

// Write implements io.Writer.
func (c *cutter) Write(text []byte) (int, error) {
	n := len(text)
	for len(text) > 0 {
		part, rest, ended := bytes.Cut(text, []byte("\n"))
		c.line = append(c.line, part[:min(len(part), lineBytes-len(c.line))]...)
		c.size += len(part)
		if ended {
			c.size++
			c.endLine()
		}
		text = rest
	}
	return n, nil
}

func (c *cutter) end() {
	if c.size > 0 {
		c.endLine()
	}
	c.flush()
}

// endLine adds a line to its section.
func (c *cutter) endLine() {
	line := string(c.line)
	top := line != "" && !strings.ContainsRune(" -#", rune(line[0]))
	item := strings.HasPrefix(line, "- ") && c.key == ScrapeConfigs
	if top || item {
		c.flush()
	}
	if top {
		c.key, _, _ = strings.Cut(line, ":")
	}
	if c.now.Size == 0 {
		c.now, c.bare = Section{Name: c.key, at: c.at}, strings.TrimSpace(line) == ScrapeConfigs+":"
	} else if strings.TrimSpace(line) != "" {
		c.bare = false
	}
	c.now.Size += c.size
	if names := promconfig.JobNames(c.line); c.key == ScrapeConfigs && c.now.Job == "" && len(names) > 0 {
		c.now.Job = names[0]
		c.now.Name, c.now.Object = ScrapeConfigs+"/"+c.now.Job, c.jobs[c.now.Job]
	}
	c.at += c.size
	c.line, c.size = c.line[:0], 0
}

// flush ends a section.
func (c *cutter) flush() {
	if c.now.Size > 0 && !c.bare {
		c.sections = append(c.sections, c.now)
	}
	c.now = Section{}
}

// Load reads the texts of sections that do not have them.
//
// Errors: the file cannot be decompressed.
func (d *File) Load(sections []*Section) error {
	p := &picker{}
	for _, s := range sections {
		if s.Text == "" && s.Size > 0 {
			p.wanted = append(p.wanted, s)
		}
	}
	if len(p.wanted) == 0 {
		return nil
	}
	slices.SortFunc(p.wanted, func(a, b *Section) int { return cmp.Compare(a.at, b.at) })
	if _, err := io.Copy(p, s2.NewReader(bytes.NewReader(d.Compressed))); err != nil {
		return apierrors.NewInternalError(err)
	}
	return nil
}

// picker is an [io.Writer] that keeps the texts of sections.
type picker struct {
	wanted []*Section // in the order of the file
	text   []byte     // of the first of them
	at     int
}

var _ io.Writer = (*picker)(nil)

// Write implements io.Writer.
func (p *picker) Write(text []byte) (int, error) {
	end := p.at + len(text)
	for len(p.wanted) > 0 {
		s := p.wanted[0]
		from, to := max(s.at, p.at), min(s.at+s.Size, end)
		if from < to {
			if p.text == nil {
				p.text = make([]byte, 0, s.Size)
			}
			p.text = append(p.text, text[from-p.at:to-p.at]...)
		}
		if s.at+s.Size > end {
			break
		}
		s.Text = string(p.text)
		p.wanted, p.text = p.wanted[1:], nil
	}
	p.at = end
	return len(text), nil
}
