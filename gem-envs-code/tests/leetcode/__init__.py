"""LeetCode's form of tests: `check(Solution().method)`."""
