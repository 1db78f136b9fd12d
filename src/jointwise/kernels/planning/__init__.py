"""Plans, which are paths of proven edges to goals, and tool paths through layers of solutions."""
