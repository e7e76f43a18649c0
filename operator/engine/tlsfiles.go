package engine

import (
	"fmt"
	"iter"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// TLSFiles are the files of one selected object.
type TLSFiles struct {
	Kind     string
	Object   catalog.Object
	Files    map[string][]byte
	LeaveOut func(why error) // rejects the object
}

// FitTLSFiles leaves out objects whose files do not fit into the Secrets that pods mount. own are
// the files of the workload itself, which always stay. each is used only if not all files fit.
func FitTLSFiles(all, own map[string][]byte, each iter.Seq[TLSFiles]) []share.LeftOut {
	if filesBytes(all) <= workload.MaxTLSAssetBytes {
		return nil
	}
	var with []TLSFiles
	var objects []share.Object
	for f := range each {
		lengths := make(map[string]int, len(f.Files))
		for name, content := range f.Files {
			if _, stays := own[name]; !stays {
				lengths[name] = len(name) + len(content)
			}
		}
		with = append(with, f)
		objects = append(objects, share.Object{Namespace: f.Object.GetNamespace(), Name: f.Kind + "/" + f.Object.GetName(), Files: lengths})
	}
	full := fmt.Sprintf("%.1f MiB of TLS files, which is what pods mount", float64(workload.MaxTLSAssetBytes)/(1<<20))
	return share.LeaveOut(objects, workload.MaxTLSAssetBytes-filesBytes(own), full, func(i int, why error) { with[i].LeaveOut(why) })
}

func filesBytes(files map[string][]byte) (n int) {
	for name, content := range files {
		n += len(name) + len(content)
	}
	return n
}
