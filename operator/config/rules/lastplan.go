package rules

import (
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// LastPlan holds the last plan of a workload, and what was computed from it. A reconciliation whose rules and ConfigMaps
// are the same, because another object has changed, uses them again. It is not safe for concurrent use. The zero value and
// nil are empty.
type LastPlan struct {
	base  string
	most  int
	files []*CompressedFragment
	live  []Bucket
	plan  Plan

	archive  Archive // of plan.Overflow
	archived bool

	digests map[string]dirDigest // by ConfigMap
}

// dirDigest is the digest of the directory of a ConfigMap.
type dirDigest struct {
	files map[string]string
	sum   string
}

// packWithin is [PackWithin] for the accepted files. The plan must not be modified.
func (l *LastPlan) packWithin(base string, live []Bucket, fs Files, most int) Plan {
	if l == nil {
		return PackWithin(base, live, fs.Contents(), most)
	}
	if l.base != base || l.most != most || !l.packed(fs) || !sameBuckets(l.live, live) {
		l.base, l.most, l.live, l.files = base, most, slices.Clone(live), fragmentsOf(fs, l.files[:0])
		l.plan, l.archive, l.archived = PackWithin(base, live, fs.Contents(), most), Archive{}, false
	}
	return l.plan
}

// Archive is [Files.Archive]. It must not be modified.
func (l *LastPlan) Archive(fs Files, names []string) (Archive, error) {
	if l == nil || !l.packed(fs) || !same(l.plan.Overflow, names) {
		return fs.Archive(names)
	}
	if l.archived {
		return l.archive, nil
	}
	out, err := fs.Archive(names)
	l.archive, l.archived = out, err == nil
	return out, err
}

// Digests returns the expected digest of each ConfigMap's directory in a pod, by
// directory. dir is the mount path. files holds the digests of the files of each ConfigMap.
func (l *LastPlan) Digests(dir string, files map[string]map[string]string) map[string]string {
	out, kept := make(map[string]string, len(files)), make(map[string]dirDigest, len(files))
	for name, of := range files {
		d := dirDigest{of, ""}
		if l != nil {
			if last := l.digests[name]; apply.SameMemory(last.files, of) {
				d.sum = last.sum
			}
		}
		if d.sum == "" {
			d.sum = volume.SumDigests(checksums(of))
		}
		out[dir+"/"+name], kept[name] = d.sum, d
	}
	if l != nil {
		l.digests = kept
	}
	return out
}

// Held returns the approximate size in bytes of what is kept, without compiled rules and live objects.
func (l *LastPlan) Held() int {
	return 8*len(l.files) + 64*len(l.archive.Sums) + 16*len(l.plan.Overflow)
}

// packed reports whether the plan was made from these files.
func (l *LastPlan) packed(fs Files) bool {
	return slices.EqualFunc(l.files, fs, func(c *CompressedFragment, f File) bool { return c == f.CompressedFragment })
}

func fragmentsOf(fs Files, to []*CompressedFragment) []*CompressedFragment {
	clear(to[:cap(to)])
	for _, f := range fs {
		to = append(to, f.CompressedFragment)
	}
	return to
}

// sameBuckets reports whether two lists, in any order, have the same versions of the same ConfigMaps.
func sameBuckets(a, b []Bucket) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x Bucket) bool {
		return !slices.ContainsFunc(b, func(y Bucket) bool { return x.Name == y.Name && apply.SameMemory(x.Files, y.Files) })
	})
}

// same reports whether two slices are the same and not only equal.
func same(a, b []string) bool {
	return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0]
}
