package cluster

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

// Ports come from below the node ports of Services and the range from which the kernel takes ports for outgoing
// connections, so that nothing slips in between choosing a port and listening on it.
const firstPort, lastPort = 20000, 29999

// portLease keeps ports from being handed out again while a cluster runs: the ports are not listened on yet when
// another process looks for free ones. Each lease locks one byte per port of a file that all clusters
// of a user share; closing the file, or the end of the process, ends the lease.
type portLease struct {
	ports []int
	file  *os.File
}

// ofdSetLock is F_OFD_SETLK: a lock of the open file instead of the process, so that two leases of one process
// exclude each other too.
const ofdSetLock = 37

// leasePorts finds TCP ports that are free on every address of the machine.
func leasePorts(count int) (*portLease, error) {
	name := filepath.Join(os.TempDir(), fmt.Sprintf("firekeeper-ports-%d", os.Geteuid()))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open port leases: %w", err)
	}
	l := &portLease{file: f}
	for range 50 * count {
		if len(l.ports) == count {
			return l, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: int64(port), Len: 1}
		if syscall.FcntlFlock(f.Fd(), ofdSetLock, &lock) == nil && !l.has(port) && portTaken(port) == nil {
			l.ports = append(l.ports, port)
		}
	}
	l.release()
	return nil, fmt.Errorf("no %d free ports between %d and %d", count, firstPort, lastPort)
}

// has reports whether the lease already holds a port; its own lock would not tell.
func (l *portLease) has(port int) bool {
	for _, p := range l.ports {
		if p == port {
			return true
		}
	}
	return false
}

func (l *portLease) release() { _ = l.file.Close() }

// portTaken returns an error when something listens on one of the TCP ports.
func portTaken(ports ...int) error {
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
