// Package workloadtest provides helpers for tests of packages that build pods.
//
//	workloadtest.Coverage{...}.Check(t)    // each field of the spec has a test
//	workloadtest.CheckPod(t, sts.Spec.Template)
//	files, err := workloadtest.Files(pod, container, secrets, configMaps) // by path
package workloadtest
