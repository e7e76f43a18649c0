package promconfig

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// reservedHeaders lists headers that the server sets itself. It rejects a file that sets any of them.
var reservedHeaders = []string{
	"host", "content-encoding", "content-length", "content-type", "user-agent", "connection", "keep-alive",
	"proxy-authenticate", "proxy-authorization", "www-authenticate", "accept-encoding",
	"x-prometheus-remote-write-version", "x-prometheus-remote-read-version",
	"x-amz-date", "x-amz-security-token", "x-amz-content-sha256",
}

// otherThanHeader names the fields that replace the header Authorization in remote write and remote read.
const otherThanHeader = "authorization, with the token in a Secret, or basicAuth or oauth2"

// checkHeaders rejects the headers that the server rejects in remote_write, remote_read and tracing. Errors do not contain
// values, which may be credentials.
//
// instead: the fields that replace the header Authorization, for the error.
func checkHeaders(headers map[string]string, instead string) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch lower := strings.ToLower(name); {
		case lower == "authorization":
			return faults.At(faults.Key("headers", name), errors.New("is refused by Prometheus; use "+instead))
		case slices.Contains(reservedHeaders, lower):
			return faults.At(faults.Key("headers", name), errors.New("is refused by Prometheus, which sets it itself"))
		}
	}
	return nil
}
