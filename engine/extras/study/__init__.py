"""Studies: releases measured side by side on copies, every one in a process of its own."""
