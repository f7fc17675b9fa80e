// Package page is the page of a network: what a browser shows at the API's address.
//
// Its files are plain modules and styles. They need no build step, and make no request to
// another host. A browser loads all modules as one script, which is linked when it is first
// asked for. The page reads everything that it shows from the API.
//
// GET /page/live is the beat: the state of the network each 100 ms, absolute and never a
// difference. The package asks the API in this process, and encodes the state once for all
// readers. Without a reader it asks nothing. A slow reader misses beats, and then gets the
// newest. GET /page/now answers with one beat.
package page
