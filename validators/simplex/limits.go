package simplex

// Limits of the memory and work that the machine spends on others. These bound
// messages of one faulty validator; only a quorum can make the machine hold more,
// one certificate per view.
const (
	// MaxFutureViews is how far ahead of its view the machine keeps votes. A
	// machine that lags further catches up by certificates, which it takes from any
	// view.
	MaxFutureViews = 8
	// MaxFutureProposals is how far ahead it keeps proposals, which are large.
	MaxFutureProposals = 2
	// MaxPastViews is how far behind its view it still collects votes. For older
	// views it keeps only the certificates.
	MaxPastViews = 16
	// MaxOpenViews is the views above the finalized block that it remembers whole. Views
	// only pass by a quorum's certificate. It keeps one bit for each nullified view beyond
	// it.
	MaxOpenViews = 16_384
	// MaxOpenBlocks is the bodies above the finalized block that it holds. A new one takes
	// the place of one that nothing waits for, or is refused. Proposing the newest
	// notarized block again takes no place, so that finality never waits for this bound.
	MaxOpenBlocks = 256
	// MaxOpenDepth is the blocks, one on top of the other, that leaders let wait for
	// finality. A peer that lacks them all fetches them one by one.
	MaxOpenDepth = MaxFetchBlocks
	// MaxFetchBlocks is the gap above the finalized block that it closes by
	// itself, asking for one body after the other. A wider one is for catch-up.
	MaxFetchBlocks = 16
	// MaxWanted is the bodies it asks for at once.
	MaxWanted = 32
	// MaxRecentBlocks is the finalized bodies it keeps for peers that lack them.
	MaxRecentBlocks = MaxFetchBlocks
	// MaxRequests is how many requests of one peer it answers per resend
	// interval. Closing a gap of MaxFetchBlocks takes that many.
	MaxRequests = 2 * MaxFetchBlocks
	// MaxCertificatesPerAnswer is the certificates it sends for one request.
	MaxCertificatesPerAnswer = 32
	// certificateStep is the views of which such an answer holds all: each has two at most.
	certificateStep = MaxCertificatesPerAnswer / 2
	// MaxBitmapBytes bounds a presence bitmap: 65,504 runners and its length (decision
	// J12).
	MaxBitmapBytes = 8192
	// StrangerBlocks is the blocks after which a validator returns as one with a lost log.
	// It saw no further vote of its key in them that it did not cast.
	StrangerBlocks = 256
	// maxPatience is how many resend intervals it waits at most before a body is
	// executed again over which the environment failed.
	maxPatience = 64
)

// The terms of decision C4 that are numbers.
const (
	leaderDelays     = 2 // leader timeout: block time + 2Δ
	viewDelays       = 3 // view timeout: block time + 3Δ
	resendDelays     = 2 // votes and the best certificate are sent again every 2Δ
	maxDoublings     = 4 // timeouts grow up to 16 times
	unheardViews     = 4 // a leader unheard for 4 views is not waited for
	fillingFraction  = 4 // a proposer fills a block for a quarter of the leader timeout
	presenceFraction = 4 // a late chain's leader waits a quarter of min(block time, Δ) for votes on runners
	pingDelays       = 2 // a life that does not answer within 2Δ has ended (decision C5)
	claimDelays      = 8 // a life that enough others answered waits no longer for the rest
	driftDelays      = 2 // timestamps lie at most max(block time, 2Δ) ahead (decision C7)
)

// resendBack is how many views back finalize votes are sent again.
const resendBack = 4
