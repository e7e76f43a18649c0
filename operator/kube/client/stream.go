package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The default decoders read every byte of a watch about seven times: to find the end of an event,
// validate it, split it, find the kind, and validate and decode the object. At startup, when a
// watch delivers all objects, this takes most of the time. The decoders below rely on the format
// in which API servers write custom resources, one event per line, and use the default decoders
// for every other format:
//
//	{"type":"ADDED","object":{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor",...}}\n

// quick decodes watch events of the kinds in a scheme without the generic passes.
type quick struct {
	runtime.NegotiatedSerializer
	scheme *runtime.Scheme
	packs  bool
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (q quick) SupportedMediaTypes() []runtime.SerializerInfo {
	return withStreams(q.NegotiatedSerializer, runtime.ContentTypeJSON, func(info *runtime.SerializerInfo) {
		info.Serializer = objectDecoder{info.Serializer, q.scheme, q.packs}
		stream := info.StreamSerializer
		stream.Serializer, stream.Framer = eventDecoder{stream.Serializer}, lineFramer{stream.Framer}
	})
}

// kindOf parses the kind at the beginning of an object.
func kindOf(data []byte) (kind schema.GroupVersionKind, ok bool) {
	version, rest, ok := leadingString(data, `{"apiVersion":"`)
	if !ok {
		return kind, false
	}
	name, _, ok := leadingString(rest, `,"kind":"`)
	if !ok {
		return kind, false
	}
	gv, err := schema.ParseGroupVersion(version)
	return gv.WithKind(name), err == nil
}

// leadingString returns the string between prefix, which ends with the opening quotation mark,
// and the next quotation mark, and the rest. It returns ok=false for escape sequences.
func leadingString(data []byte, prefix string) (text string, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(data, []byte(prefix))
	if !ok {
		return "", nil, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return "", nil, false
	}
	return string(rest[:end]), rest[end+1:], true
}

// eventDecoder splits events. The bytes of the object remain in the caller's buffer, because they
// are decoded before the next event is read.
type eventDecoder struct{ runtime.Serializer }

// Decode implements runtime.Decoder.
func (d eventDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, ok := into.(*metav1.WatchEvent); ok {
		if kind, object, ok := cutEvent(data); ok {
			event.Type, event.Object.Raw = kind, object
			return event, defaults, nil
		}
	}
	return d.Serializer.Decode(data, defaults, into)
}

// cutEvent splits an event. Its object is validated when it is decoded.
func cutEvent(data []byte) (kind string, object []byte, ok bool) {
	kind, rest, ok := leadingString(data, `{"type":"`)
	if !ok {
		return "", nil, false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimRight(rest, "\r\n"), []byte(`,"object":`))
	if !ok || !bytes.HasPrefix(rest, []byte("{")) || !bytes.HasSuffix(rest, []byte("}}")) ||
		bytes.Contains(rest, []byte(`}{"type":"`)) { // two events: no object contains this text
		return "", nil, false
	}
	return kind, rest[:len(rest)-1], true // without the closing brace of the event
}

// lineFramer returns readers that treat each line as an event.
type lineFramer struct{ runtime.Framer }

// NewFrameReader implements runtime.Framer.
func (f lineFramer) NewFrameReader(r io.ReadCloser) io.ReadCloser {
	return &lineReader{source: r, lines: bufio.NewReaderSize(r, 64<<10), framer: f.Framer}
}

// lineReader returns one event per Read, or a part of it with io.ErrShortBuffer if the buffer is too small.
type lineReader struct {
	source io.ReadCloser
	lines  *bufio.Reader
	framer runtime.Framer
	usual  io.Reader // used after the first line of another format
	rest   []byte    // of the line that is being returned
}

// Read implements io.Reader for a frame reader.
func (r *lineReader) Read(p []byte) (int, error) {
	if r.usual != nil {
		return r.usual.Read(p)
	}
	if len(r.rest) == 0 {
		line, err := r.line()
		if err != nil {
			return 0, err
		}
		if _, _, ok := cutEvent(line); !ok || !bytes.HasSuffix(line, []byte("\n")) {
			r.usual = r.framer.NewFrameReader(io.NopCloser(io.MultiReader(bytes.NewReader(line), r.lines)))
			return r.usual.Read(p)
		}
		r.rest = line
	}
	n := copy(p, r.rest)
	if r.rest = r.rest[n:]; len(r.rest) > 0 {
		return n, io.ErrShortBuffer
	}
	r.rest = nil // release it: the line may be long, and the next event hours away
	return n, nil
}

// line returns the next nonempty line. It is valid until the next call.
func (r *lineReader) line() ([]byte, error) {
	var long []byte
	for {
		part, err := r.lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if long != nil {
			part = append(long, part...)
		}
		switch {
		case len(bytes.TrimSpace(part)) > 0 && (err == nil || err == io.EOF):
			return part, nil // at the end of the stream, without a line break
		case err != nil:
			return nil, err
		}
		long = nil
	}
}

// Close implements io.Closer.
func (r *lineReader) Close() error { return r.source.Close() }
