// Package child ties processes to the life of the one that started them, so that
// a test or tool that is killed outright leaves nothing running.
//
//	cmd := exec.Command(program, args...)
//	child.DiesWithUs(cmd)
//	err := cmd.Start()
package child
