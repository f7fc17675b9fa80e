// Package page is the page of a network: what a browser shows at the API's address.
//
// Its files are plain modules and styles, and make no request to another host. A browser loads
// all modules as one script of assets/bundle, which a test makes of them and which is committed:
// devnet is built without a step for it. The modules are served beside it, for debuggers and
// readers. The page reads everything that it shows from the API.
//
// GET /page/live is the beat: the state of the network each 100 ms, absolute and never a
// difference. The package asks the API in this process, and encodes the state once for all
// readers. Without a reader it asks nothing. A slow reader misses beats, and then gets the
// newest. GET /page/now answers with one beat.
package page
