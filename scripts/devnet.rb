# Made by make release of devnet @VERSION@.
class Devnet < Formula
  desc "Run a multi-validator Cowboy chain on your laptop, and break it on purpose"
  homepage "https://github.com/cowboyinc/devnet"
  version "@VERSION@"
  license "Apache-2.0"

  depends_on "python@3.12"

  on_macos do
    on_arm do
      url "@URL@/@darwin_arm64@"
      sha256 "@sha256 darwin_arm64@"
    end
    on_intel do
      url "@URL@/@darwin_amd64@"
      sha256 "@sha256 darwin_amd64@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/@linux_arm64@"
      sha256 "@sha256 linux_arm64@"
    end
    on_intel do
      url "@URL@/@linux_amd64@"
      sha256 "@sha256 linux_amd64@"
    end
  end

  def install
    bin.install "devnet"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/devnet.bash" => "devnet"
    zsh_completion.install "completions/devnet.zsh" => "_devnet"
    fish_completion.install "completions/devnet.fish"
    pkgshare.install "examples"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/devnet version")
    system bin/"devnet", "run", "#{pkgshare}/examples/scenarios/partition_and_heal.star"
  end
end
