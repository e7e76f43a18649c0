// Package child ends processes together with the process that started them, so that a
// killed test or tool leaves no processes behind.
//
//	cmd := exec.Command(program, args...)
//	child.DiesWithUs(cmd)
//	err := cmd.Start()
package child
