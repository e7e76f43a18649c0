// Package ports allocates TCP ports for programs that need a listen address, so that no two of them get the same port,
// even from different processes.
//
//	lease, err := ports.Take(2)
//	if err != nil {
//		return err
//	}
//	defer lease.Release()
//	start(lease.Ports[0], lease.Ports[1])
package ports

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// The ports are below the node ports of Services and the ephemeral ports for outgoing connections, so that a port is
// not taken between choosing it and listening on it.
const firstPort, lastPort = 20000, 29999

// Lease reserves ports on which nothing listens yet, so that they are not allocated again. Each lease locks one byte
// per port of a file that all processes of a user share. Closing the file, or the end of the process, ends the lease.
type Lease struct {
	Ports []int
	file  *os.File
}

// ofdSetLock is F_OFD_SETLK: the lock belongs to the open file and not to the process, so that two leases of one
// process exclude each other too.
const ofdSetLock = 37

// Take returns a lease of TCP ports that are free on every address of the machine.
func Take(count int) (*Lease, error) {
	name := filepath.Join(os.TempDir(), fmt.Sprintf("firekeeper-ports-%d", os.Geteuid()))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open port leases: %w", err)
	}
	l := &Lease{file: f}
	for range 50 * count {
		if len(l.Ports) == count {
			return l, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: int64(port), Len: 1}
		if syscall.FcntlFlock(f.Fd(), ofdSetLock, &lock) == nil && !l.has(port) && Taken(port) == nil {
			l.Ports = append(l.Ports, port)
		}
	}
	l.Release()
	return nil, fmt.Errorf("no %d free ports between %d and %d", count, firstPort, lastPort)
}

// has reports whether the lease already has a port, which its own lock does not show.
func (l *Lease) has(port int) bool {
	for _, p := range l.Ports {
		if p == port {
			return true
		}
	}
	return false
}

// Release ends the lease. The ports may be allocated again.
func (l *Lease) Release() { _ = l.file.Close() }

// Taken returns an error if one of the TCP ports is in use.
func Taken(ports ...int) error {
	var errs []error
	for _, port := range ports {
		ln, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err != nil {
			errs = append(errs, fmt.Errorf("port %d is taken: %w", port, err))
			continue
		}
		_ = ln.Close()
	}
	return errors.Join(errs...)
}

// Address returns a loopback address on which no process listens, for a server that is started immediately. Unlike a
// leased port, it is not reserved.
func Address() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}
