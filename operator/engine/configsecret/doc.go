// Package configsecret writes the configuration of a workload of any kind into the Secrets that its
// pods mount: into one Secret if possible, otherwise split into parts in up to 16 additional
// Secrets (see package internal/parts for the format). It decides from plain values and the live
// objects; package apply does the writing.
//
// A kind sets the name of its configuration Secret in workload.Kind and makes one call per reconciliation:
//
//	docs := configsecret.New(&chunks, 0) // one per workload, kept for its lifetime
//	out, err := docs.Write(base, live, configsecret.Content{Pieces: pieces, Keys: keys, Origin: origin})
//	if err != nil {
//		return plan, err
//	}
//	if out.Withheld != nil { // too large: the last configuration stays
//		plan = out.Withheld.Plan()
//		if out.LeavePods {
//			return plan, nil
//		}
//	}
//	plan.Content = append(plan.Content, out.Steps...)
//	plan.Hash = plan.ContentHash(out.Parts, files)
//	plan.Delivered.Config = out.Hash
//	volume := base.ConfigVolume(out.InParts)
//
// Parts are written before the list that names them, and the previous version's parts are removed
// after it. A part named by the list in the cluster is never overwritten: after every single write,
// a starting pod finds either the old version or the new one.
//
//	write.go     content of the Secrets
//	slots.go     assignment of parts to Secrets
//	readers.go   whether the pods can read parts
//	divide.go    leaving out objects if Secrets or config-reloader's memory cannot hold all
//	toolarge.go  the error about a configuration that does not fit, with the largest sources
package configsecret
