// Command etcd is the etcd server. The server module ships the program as a
// package only, so this is the main that upstream keeps in another module.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
