package rules

import "slices"

// shrink frees the last ConfigMaps after files were removed, while all files fill at most
// three quarters of the remaining ones. The slack avoids creating and deleting a
// ConfigMap each time a file is added and removed, which would restart the pods above
// three ConfigMaps. Only the highest index is freed, so the numbering has no gaps.
func (p *packer) shrink() {
	content := 0
	for _, b := range p.buckets {
		content += b.content
	}
	for n := len(p.buckets) - 1; n > 0; n-- {
		last := p.buckets[n]
		if content > n*MaxFileBytes/4*3 || !p.empty(last, p.buckets[:n]) {
			return
		}
		last.freed = true
	}
}

// empty moves all files of last into the others if all of them fit.
func (p *packer) empty(last *bucket, others []*bucket) bool {
	type usage struct{ content, total int }
	used := make([]usage, len(others))
	for i, b := range others {
		used[i] = usage{b.content, b.total}
	}
	slices.Sort(last.want)
	to := make([]*bucket, len(last.want))
	for k, name := range last.want {
		content := p.files[name].Len()
		for i, b := range others {
			if b.gives || used[i].content+content > MaxFileBytes || used[i].total+len(name)+content > maxBucketBytes {
				continue
			}
			used[i].content += content
			used[i].total += len(name) + content
			to[k] = b
			break
		}
		if to[k] == nil {
			return false
		}
	}
	for k, name := range last.want {
		p.put(to[k], name)
	}
	last.want, last.content, last.total = nil, 0, 0
	return true
}
