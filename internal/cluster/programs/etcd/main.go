// Command etcd is the etcd server. The server module has it only as a package; upstream
// keeps this main function in another module.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
