package rules

import (
	"cmp"
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// maxBucketBytes is the maximum size of keys and contents of one ConfigMap together. It
// keeps thousands of tiny files, whose keys are larger than their contents, below the
// limit of the API server. With files of usual size, MaxFileBytes is reached first.
const maxBucketBytes = 1<<20 - 64<<10

// Content is the content of a wanted file.
type Content interface {
	apply.Value
	Digest() string
	Is(digest string) bool // reports whether this is the digest of the content
}

// Pack plans the writes after which the ConfigMaps base-0, base-1, ... hold exactly files
// (file name to content). live holds the ConfigMaps in the cluster; those with other
// names are foreign and ignored.
//
//	no wanted file in live             fill one ConfigMap after the other, by file name
//	live holds exactly the files       no step, wherever the files are
//	a file is unchanged                stays
//	a file changed                     stays if it fits, else moves
//	a file is new or moves             into a ConfigMap that is written anyway, else
//	                                   the first with room, else a new one
//	a file was removed                 may free the last ConfigMap, see shrink
//
// A file only moves into a ConfigMap from which no file moves. So every ConfigMap is
// written at most once, with its final content, and this order is safe at every step:
// ConfigMaps that only receive files, those that give files away, deletions. Overflow
// (PackWithin) is written between the first and the second. A reader of all ConfigMaps
// always sees every file that is both in live and in files.
func Pack(base string, live []Bucket, files map[string]Content) Plan {
	return PackWithin(base, live, files, 0)
}

// PackWithin is like Pack, but creates no ConfigMap beyond the first most; 0 means no
// limit. Existing ones stay in use. Files without room are in Plan.Overflow, which needs
// no state between plans: files in ConfigMaps stay there, and files for which there is
// room move into them.
func PackWithin(base string, live []Bucket, files map[string]Content, most int) Plan {
	p := &packer{base: base, most: most}
	p.own(live)
	p.accept(files)
	if p.settled() {
		return p.plan()
	}
	p.home = make(map[string]*bucket, len(p.files))
	p.bucketAt(0)
	p.keepUnchanged()
	p.keepChanged()
	moved, fresh := p.homeless()
	if len(p.home) == 0 && len(moved) == 0 {
		p.fill(fresh)
	} else {
		p.place(moved, true)
		p.place(fresh, p.most > 0) // it may come from the overflow
		if p.lost > 0 && len(p.overflow) == 0 {
			p.shrink()
		}
	}
	return p.plan()
}

type packer struct {
	base     string
	most     int // maximum number of ConfigMaps; 0 for no limit
	files    map[string]Content
	refused  []string
	overflow []string
	buckets  []*bucket          // by index
	home     map[string]*bucket // destination of each file
	lost     int                // live copies of files that were removed or moved
}

// bucket is one of our ConfigMaps, before and after the plan.
type bucket struct {
	index   int
	name    string
	live    bool
	have    map[string]string // digests of the current contents
	want    []string          // files after the plan
	content int               // bytes of the contents of want
	total   int               // content plus bytes of the names
	written bool              // the plan changes it
	gives   bool              // a file moves out, so none may move in
	freed   bool              // deleted at the end
}

func (b *bucket) fits(name string, bytes int) bool {
	return b.content+bytes <= MaxFileBytes && b.total+len(name)+bytes <= maxBucketBytes
}

func (p *packer) put(b *bucket, name string) {
	content := p.files[name]
	b.want = append(b.want, name)
	b.content += content.Len()
	b.total += len(name) + content.Len()
	p.home[name] = b
	if old, ok := b.have[name]; !ok || !content.Is(old) {
		b.written = true
	}
}

// own selects our ConfigMaps from the live ones.
func (p *packer) own(live []Bucket) {
	for _, l := range live {
		if i, ok := indexOf(p.base, l.Name); ok {
			p.buckets = append(p.buckets, &bucket{index: i, name: l.Name, live: true, have: l.Files})
		}
	}
	slices.SortFunc(p.buckets, func(a, b *bucket) int { return cmp.Compare(a.index, b.index) })
}

// accept sets the wanted files, except those that exceed the limits of a ConfigMap.
func (p *packer) accept(files map[string]Content) {
	p.files = files
	for name, content := range files {
		if content.Len() > MaxFileBytes || len(name) > maxKeyBytes {
			p.refused = append(p.refused, name)
		}
	}
	if len(p.refused) > 0 {
		slices.Sort(p.refused)
		p.files = maps.Clone(files)
		for _, name := range p.refused {
			delete(p.files, name)
		}
	}
}

// settled reports whether the cluster holds exactly the files, each once.
func (p *packer) settled() bool {
	n := 0
	for _, b := range p.buckets {
		n += len(b.have)
	}
	if n != len(p.files) || len(p.buckets) == 0 {
		return false
	}
	for _, b := range p.buckets {
		for name, digest := range b.have {
			if want, ok := p.files[name]; !ok || !want.Is(digest) {
				return false
			}
		}
	}
	return len(p.buckets) == 1 || p.eachOnce()
}

// eachOnce reports whether no file is in two ConfigMaps, which happens after an interrupted plan.
func (p *packer) eachOnce() bool {
	seen := make(map[string]struct{}, len(p.files))
	for _, b := range p.buckets {
		for name := range b.have {
			seen[name] = struct{}{}
		}
	}
	return len(seen) == len(p.files)
}

// bucketAt returns the bucket with the index, creating it if necessary.
func (p *packer) bucketAt(index int) *bucket {
	at, found := slices.BinarySearchFunc(p.buckets, index, func(b *bucket, i int) int { return cmp.Compare(b.index, i) })
	if !found {
		p.buckets = slices.Insert(p.buckets, at, &bucket{index: index, name: wellknown.RuleConfigMapName(p.base, index), written: true})
	}
	return p.buckets[at]
}

// newBucket returns a bucket with the lowest free index; nil if the limit is reached.
func (p *packer) newBucket() *bucket {
	free := 0
	for _, b := range p.buckets {
		if b.index == free {
			free++
		}
	}
	if p.full(free) {
		return nil
	}
	return p.bucketAt(free)
}

// full reports whether the index is beyond the limit.
func (p *packer) full(index int) bool { return p.most > 0 && index >= p.most }

// keepUnchanged keeps unchanged files where they are, except for second copies and files
// in ConfigMaps above the limits, which this package does not create.
func (p *packer) keepUnchanged() {
	for _, b := range p.buckets {
		var content, total int
		stay := make([]string, 0, len(b.have))
		for name, digest := range b.have {
			if want, ok := p.files[name]; ok && want.Is(digest) && p.home[name] == nil {
				stay = append(stay, name)
				content += want.Len()
				total += len(name) + want.Len()
			}
		}
		if content > MaxFileBytes || total > maxBucketBytes {
			slices.Sort(stay)
		}
		for _, name := range stay {
			if b.fits(name, p.files[name].Len()) {
				p.put(b, name)
			}
		}
		if len(b.want) < len(b.have) {
			b.written = true
		}
	}
}

// keepChanged keeps changed files where they are while they fit.
func (p *packer) keepChanged() {
	type copyIn struct {
		name string
		b    *bucket
	}
	var changed []copyIn
	for _, b := range p.buckets {
		if !b.live || len(b.want) == len(b.have) {
			continue
		}
		for name := range b.have {
			if _, ok := p.files[name]; ok && p.home[name] == nil {
				changed = append(changed, copyIn{name, b})
			}
		}
	}
	slices.SortFunc(changed, func(x, y copyIn) int {
		return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.b.index, y.b.index))
	})
	for _, c := range changed {
		if p.home[c.name] == nil && c.b.fits(c.name, p.files[c.name].Len()) {
			p.put(c.b, c.name)
		}
	}
}

// homeless returns the files without a destination, sorted: those that must move, and
// those that are new. It sets gives and counts lost.
func (p *packer) homeless() (moved, fresh []string) {
	evicted := map[string]struct{}{}
	for _, b := range p.buckets {
		if len(b.want) == len(b.have) {
			continue // all files stay
		}
		for name := range b.have {
			switch _, wanted := p.files[name]; {
			case !wanted:
				p.lost++
			case p.home[name] == nil:
				b.gives = true
				evicted[name] = struct{}{}
			case p.home[name] != b:
				p.lost++
			}
		}
	}
	if len(p.home) < len(p.files) {
		for name := range p.files {
			if _, leaves := evicted[name]; !leaves && p.home[name] == nil {
				fresh = append(fresh, name)
			}
		}
	}
	slices.Sort(fresh)
	return slices.Sorted(maps.Keys(evicted)), fresh
}

// fill assigns the files to ConfigMaps in order and never returns to an earlier one.
// ConfigMaps behind the last one are freed.
func (p *packer) fill(names []string) {
	b := p.bucketAt(0)
	for i, name := range names {
		if !b.fits(name, p.files[name].Len()) {
			if p.full(b.index + 1) {
				p.place(names[i:], false)
				break
			}
			b = p.bucketAt(b.index + 1)
		}
		p.put(b, name)
	}
	for _, behind := range p.buckets {
		behind.freed = behind.index > b.index && len(behind.want) == 0
	}
}

// place finds room for files. Files that move from another ConfigMap cannot be placed in
// those that give files away.
func (p *packer) place(names []string, moving bool) {
	for _, name := range names {
		if b := p.room(name, moving); b != nil {
			p.put(b, name)
		} else {
			p.overflow = append(p.overflow, name)
		}
	}
}

func (p *packer) room(name string, moving bool) *bucket {
	var first *bucket
	for _, b := range p.buckets {
		if moving && b.gives || !b.fits(name, p.files[name].Len()) {
			continue
		}
		if b.written {
			return b
		}
		if first == nil {
			first = b
		}
	}
	if first != nil {
		return first
	}
	return p.newBucket()
}

// plan returns the steps.
func (p *packer) plan() Plan {
	out := Plan{Refused: p.refused}
	var receive, give, remove []Step
	for _, b := range p.buckets {
		if b.freed {
			if b.live {
				remove = append(remove, Step{Verb: Delete, Name: b.name})
			}
			continue
		}
		out.Names = append(out.Names, b.name)
		if !b.written {
			continue
		}
		files := make(map[string]string, len(b.want))
		for _, name := range b.want {
			files[name] = p.files[name].Digest()
		}
		switch step := (Step{Verb: Upsert, Name: b.name, Files: files}); {
		case b.live && maps.Equal(files, b.have): // moved away and back by shrink
		case b.gives:
			give = append(give, step)
		default:
			receive = append(receive, step)
		}
	}
	slices.Sort(out.Names)
	slices.Sort(p.overflow)
	out.Overflow, out.Late = p.overflow, len(receive)
	out.Steps = slices.Concat(receive, give, remove)
	return out
}
