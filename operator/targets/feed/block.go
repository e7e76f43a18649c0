package feed

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"maps"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/prometheus/common/model"
)

// block is an immutable piece of a stream: whole lines. All streams share it.
type block struct {
	// packed is the rest of a gzip member after its header, followed by the header of the next
	// member. A reader of gzip that has read it waits for nothing to return its last line, because
	// it needs the next header to know whether the file ends.
	packed []byte
	plain  int // size in bytes when unpacked
}

// header is the header of a gzip member without name and time.
var header = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}

// trailer is the size of checksum and length at the end of a gzip member.
const trailer = 8

// level is the compression level. Targets of a job are alike, so higher ones save little.
const level = 4

var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, level)
	if err != nil {
		panic(err) // an invalid level
	}
	return w
}}

// pack compresses the line of a job. Its groups are compressed exactly as pods compress them, which keep
// each job in memory: with another method, level or beginning, what fits here might be many times as
// large there, for content that a tenant chooses.
func pack(line []byte) block {
	var out bytes.Buffer
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	before, groups, after := parts(line)
	out.Write(appendStored(nil, before, continues))
	w.Reset(&out)
	// Writing to a buffer cannot fail.
	_, _ = w.Write(groups)
	_ = w.Flush()
	return member(appendStored(out.Bytes(), after, ends), line)
}

// parts splits the line of a job into the groups and the text before and after them.
func parts(line []byte) (before, groups, after []byte) {
	const key = `,"groups":` // not in the name of the job, whose quotes are escaped
	at := bytes.Index(line, []byte(key))
	if at < 0 {
		return nil, line, nil
	}
	groups = bytes.TrimSuffix(line[at+len(key):], []byte("}\n"))
	at += len(key)
	return line[:at], groups, line[at+len(groups):]
}

// maxStored is the maximum size of a part of a deflate stream that is not compressed.
const maxStored = 1<<16 - 1

// stored is like pack for few bytes, which compressing would not make smaller.
func stored(lines []byte) block { return member(appendStored(nil, lines, ends), lines) }

// finality is the bit that marks the last part of a deflate stream.
type finality byte

const (
	continues finality = 0
	ends      finality = 1
)

// appendStored appends a part of a deflate stream that is not compressed.
func appendStored(out, text []byte, end finality) []byte {
	for rest := text; ; {
		part := rest[:min(len(rest), maxStored)]
		rest = rest[len(part):]
		last := continues
		if len(rest) == 0 {
			last = end
		}
		out = binary.LittleEndian.AppendUint16(append(out, byte(last)), uint16(len(part)))
		out = append(binary.LittleEndian.AppendUint16(out, ^uint16(len(part))), part...)
		if len(rest) == 0 {
			return out
		}
	}
}

// member returns the block of lines with this deflate stream.
func member(deflated, lines []byte) block {
	out := make([]byte, 0, len(deflated)+trailer+len(header))
	out = binary.LittleEndian.AppendUint32(append(out, deflated...), crc32.ChecksumIEEE(lines))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(lines)))
	return block{append(out, header...), len(lines)}
}

// unpack writes the lines of a block.
//
// Errors: those of w.
func (b block) unpack(w io.Writer) error {
	r := flate.NewReader(bytes.NewReader(b.packed[:len(b.packed)-trailer-len(header)]))
	defer r.Close()
	_, err := io.Copy(w, r)
	return err
}

// targets returns the targets in the line of a job.
func (b block) targets() (out []model.LabelSet) {
	var text bytes.Buffer
	if err := b.unpack(&text); err != nil {
		panic(err) // it was packed here
	}
	var line struct {
		Groups []struct {
			Targets []string
			Labels  map[model.LabelName]model.LabelValue // not a LabelSet, which would validate names
		}
	}
	if err := json.Unmarshal(text.Bytes(), &line); err != nil {
		panic(err) // it was encoded here
	}
	for _, g := range line.Groups {
		labels := model.LabelSet{}
		maps.Copy(labels, g.Labels)
		for _, address := range g.Targets {
			labels[model.AddressLabel] = model.LabelValue(address)
		}
		out = append(out, labels)
	}
	return out
}
