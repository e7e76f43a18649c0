package rules

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
)

// CompressedFragment is a fragment whose content is compressed. It is shared. It implements [Content].
type CompressedFragment struct {
	Fragment                   // without its content
	Sum      [sha256.Size]byte // of the content
	Bytes    int               // size of the content
	packed   []byte            // the content, compressed with S2

	once     sync.Once // guards the following, see archived
	piece    *document.Piece
	pieceErr error
}

// File is a selected PrometheusRule and its compiled form.
type File struct {
	Object *v1.PrometheusRule
	*CompressedFragment
}

// Cache caches compiled rule objects for all workloads. The zero value is ready to use.
type Cache = fragments.Cache[*CompressedFragment]

// LastPass holds the compiled rule objects of one workload's last reconciliation.
type LastPass = fragments.LastPass[*CompressedFragment]

// Compiler compiles the rule objects of one workload, reconciliation after reconciliation. It
// is not safe for concurrent use.
type Compiler struct {
	Cache    *Cache
	Workload fragments.Workload
	Plans    LastPlan
	last     LastPass
}

// Compile compiles the selected rule objects.
func (c *Compiler) Compile(s Selection) Files { return s.Compile(c.Cache, &c.last) }

// Held returns the number of bytes that are kept for the workload.
func (c *Compiler) Held() int { return c.Cache.Held(c.Workload) + c.last.Held() + c.Plans.Held() }

// Close drops them.
func (c *Compiler) Close() { c.Cache.Release(c.Workload) }

// Selection holds the rule objects that a workload selects, sorted by namespace and name,
// and the settings under which they are compiled.
type Selection struct {
	Workload fragments.Workload
	Settings Settings
	Objects  []*v1.PrometheusRule
}

// Compile compiles the rule objects. last may be nil.
func (s Selection) Compile(cache *Cache, last *LastPass) Files {
	key := s.Settings.Key()
	cache.Use(s.Workload, key)
	last.Begin(key)
	out := make(Files, len(s.Objects))
	for i, c := range fragments.All(last, v1.PrometheusRuleKind, s.Objects, nil, nil, func(r *v1.PrometheusRule) *CompressedFragment {
		return cache.Get(key, fragments.IDOf(v1.PrometheusRuleKind, r), nil, func() (*CompressedFragment, bool) {
			return newCompiled(Compile(manifest.Whole(r), s.Settings)), true
		})
	}) {
		out[i] = File{Object: s.Objects[i], CompressedFragment: c}
	}
	return out
}

func newCompiled(f Fragment) *CompressedFragment {
	content := []byte(f.Content)
	f.Content = ""
	return &CompressedFragment{Fragment: f, Sum: sha256.Sum256(content), Bytes: len(content), packed: bytes.Clone(s2.EncodeBetter(nil, content))}
}

// Weight implements [fragments.Weighted]. It counts the plain content.
func (c *CompressedFragment) Weight() (bytes int, files map[string]int) {
	bytes, files = fragments.WeightOf(&c.Fragment, nil)
	return bytes + c.Bytes, files
}

// Len implements [Content].
func (c *CompressedFragment) Len() int { return c.Bytes }

// Append implements [Content].
func (c *CompressedFragment) Append(to []byte) []byte {
	to = slices.Grow(to, c.Bytes)
	text, err := s2.Decode(to[len(to):len(to)+c.Bytes], c.packed)
	if err != nil {
		panic(fmt.Sprintf("unpack rules %s: %v", c.FileName, err)) // it was packed in this process
	}
	return to[:len(to)+len(text)]
}

// Text returns the content.
func (c *CompressedFragment) Text() []byte { return c.Append(nil) }

// Digest implements [Content] with the SHA-256, see [apply.DigestConfigMap].
func (c *CompressedFragment) Digest() string { return string(c.Sum[:]) }

// Is implements [Content].
func (c *CompressedFragment) Is(digest string) bool { return digest == string(c.Sum[:]) }

// Files are the rule files of one workload.
type Files []File

// Contents returns the contents of the accepted files by file name.
func (fs Files) Contents() map[string]Content {
	out := make(map[string]Content, len(fs))
	for _, f := range fs {
		if f.Err == nil {
			out[f.FileName] = f.CompressedFragment
		}
	}
	return out
}

// EachSum iterates over names and checksums of the accepted files in the order of the objects.
func (fs Files) EachSum() iter.Seq2[string, [sha256.Size]byte] {
	return func(yield func(string, [sha256.Size]byte) bool) {
		for _, f := range fs {
			if f.Err == nil && !yield(f.FileName, f.Sum) {
				return
			}
		}
	}
}

// checksums converts digests.
func checksums(digests map[string]string) map[string][sha256.Size]byte {
	out := make(map[string][sha256.Size]byte, len(digests))
	for file, digest := range digests {
		out[file] = [sha256.Size]byte([]byte(digest))
	}
	return out
}
