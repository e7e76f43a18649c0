// Package local guards pages that users serve on their own machine with their own permissions:
// every site that is open in the browser can send requests to such an address, and none of them may
// read the responses.
//
//	listen.go   addresses, whether only this machine reaches them, and their URLs
//	guard.go    the requests that are accepted
//
//	address, err := local.Parse("127.0.0.1:9099")
//	server := httpserver.Listen(httpserver.Options{Address: address.String(), Handler: local.Guard(pages, address)})
package local
