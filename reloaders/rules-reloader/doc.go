// Package rulesreloader makes servers reload when mounted folders change.
//
//	--volume-dir -- hash --> version --> one worker per --webhook-url
//
// The folders are only hashed, and nothing is written. Each server has separate state and
// retries, so a server that is down does not delay the others, and no change is dropped:
// it stays pending until the server has confirmed it.
package rulesreloader
