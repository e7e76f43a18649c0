package lint

import (
	"path/filepath"
	"slices"
)

// related are the codes of findings that depend on labels, names and namespaces, which a
// kustomization may change.
var related = []string{CodeNotSelected, CodeNoTarget, CodeDuplicateTarget, CodeDuplicate, CodePermission}

// built returns the findings that kustomizations cannot change, and the number of the others. changed
// are the files whose objects they change, sorted.
func built(all []Finding, changed []string) (kept []Finding, withheld int) {
	if len(changed) == 0 {
		return all, 0
	}
	for _, f := range all {
		if _, is := slices.BinarySearch(changed, filepath.Clean(f.File)); is && slices.Contains(related, f.Code) {
			withheld++
			continue
		}
		kept = append(kept, f)
	}
	return kept, withheld
}
