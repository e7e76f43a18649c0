// Package configsecret writes the configuration of a workload, of whatever kind, into
// the Secrets that its pods mount: into one Secret if possible, else its middle into
// parts in up to 16 more (package internal/parts has their form). It decides from plain
// values and from what lives in the cluster; package apply writes.
//
// A kind says in workload.Kind what its configuration Secret is called. Then one call for
// each reconciliation does it:
//
//	docs := configsecret.New(&chunks, 0) // of one workload, as long as it exists
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
// Parts are written before the list that names them, and those of the version before
// are removed after it. A part that the list in the cluster names is never written
// over: after every single write a pod that starts finds the old version or the new one.
//
//	write.go     what the Secrets should hold
//	slots.go     which Secret a part goes to
//	readers.go   whether the pods can read parts
//	memory.go    whether config-reloader has memory for it
//	toolarge.go  what does not fit, and whose it is
package configsecret
