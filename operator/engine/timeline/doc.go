// Package timeline records how the last changes of each workload reached its pods: when an event
// of an object arrived, when its reconciliation started and had written, and when the pods were
// annotated, had the content on their disks and had loaded it.
//
//	log.Notice(key, object)                  // an event
//	log.Start(key)                           // a reconciliation starts
//	log.Write(key, content, pods)              // it wrote content that these pods mount
//	log.Annotate(key, hash, pod)             // a patch of a pod succeeded
//	log.Confirm(key, hash, pod, confirmed)   // a report of a pod
//	log.Drop(key)                            // or it had nothing to write
//
// It is memory of the operator only: nothing is written to the API server, and no pod is queried
// for it. A pod confirms the last content only. What it has not confirmed by the next change is
// superseded, and looked up in the history that reloaders report together with the last content.
package timeline
